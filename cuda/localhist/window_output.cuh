// SPDX-License-Identifier: LGPL-2.1-or-later
// The output of a block: histograms, written directly or from a staging area in shared memory, or their reductions.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "cuda/localhist/column_tile.cuh"

namespace cudavision::localhist {

// The parameters of slide_windows_kernel, passed by value.
struct Windows {
  TilePlan plan;
  int rows, cols;  // of windows in the picture
  Size window;
  int stride_x, stride_y, bins;
  LocalHistLayout layout;
  LocalHistReduction reduction;
  bool has_total;    // if false, the sum of all bins is the area of a window
  bool pairs_align;  // two counts of 16 bits that start at an even bin can be written as one word
  float unit;        // the value of 1 in the fixed-point format of weights
  LocalHistOutput output;
  const float *model;
};

// One row of a tile: `cols` windows in row y of the picture's windows, from column first_col on.
struct WindowRow {
  int y, first_col, cols;

  __device__ long long index(const Windows &w, int col) const {
    return static_cast<long long>(y) * w.cols + first_col + col;
  }
};

// The index in the staging area of a row's first element: how many elements past a multiple of 16 bytes the row's
// destination in global memory begins, as copy_aligned() needs it. 0 for planes, which are copied by single elements.
template <typename Element>
__device__ int stage_shift(const Windows &w, const WindowRow &row) {
  if (w.layout == LocalHistLayout::planar) return 0;
  const unsigned first = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(w.output.histograms)) /
                         static_cast<unsigned>(sizeof(Element));
  const unsigned before = static_cast<unsigned>(row.y) * static_cast<unsigned>(w.cols) +
                          static_cast<unsigned>(row.first_col);  // may wrap: only its lowest bits count
  return static_cast<int>((first + before * static_cast<unsigned>(w.bins)) % (16 / sizeof(Element)));
}

// Writes the bins of one word for neighbouring windows of a tile, to global memory or to the staging area.
template <typename Sums, RowOutput kOutput>
class WordWriter {
 public:
  // row: the first row of the tile. col: the column of the first of the windows in the tile.
  template <typename Tile>
  __device__ WordWriter(const Windows &w, const Tile &tile, const WindowRow &row, int col, int word)
      : unit_(w.unit) {
    const TilePlan &plan = w.plan;
    const int bin = word * Sums::kBins;
    if constexpr (kOutput == RowOutput::direct) {
      // The last group can have fewer bins than the others.
      bins_ = w.bins - tile.first_bin - bin, to_window_ = w.bins, to_bin_ = 1;
      to_row_ = static_cast<long long>(w.cols) * w.bins;
      row_ = static_cast<Element *>(w.output.histograms) + row.index(w, col) * w.bins + tile.first_bin + bin;
      writes_pairs_ = Sums::kPairs && w.pairs_align && bins_ > 1;
    } else if constexpr (kOutput == RowOutput::staged) {
      const bool planar = w.layout == LocalHistLayout::planar;
      bins_ = plan.group_bins - bin;
      to_window_ = planar ? 1 : plan.group_bins, to_bin_ = planar ? plan.cols : 1;
      row_ = reinterpret_cast<Element *>(tile.stage) + col * to_window_ + bin * to_bin_;
    } else {
      bins_ = Sums::kBins, to_window_ = plan.stage_stride, to_bin_ = 1;
      row_ = reinterpret_cast<Element *>(tile.stage) + col * to_window_ + bin;
    }
  }

  // Begins the next row of the output. shift: what stage_shift() returns for a staged row, otherwise 0.
  __device__ void begin_row(int shift) {
    out_ = row_ + shift;
    row_ += to_row_;
  }
  __device__ void write(const Sums &sums) {
    if (kOutput == RowOutput::direct && writes_pairs_)
      __stcs(reinterpret_cast<unsigned *>(out_), sums.bits(0) | sums.bits(1) << 16);
    else
#pragma unroll
      for (int i = 0; i < Sums::kBins; ++i)
        if (i < bins_) out_[i * to_bin_] = element(sums.bits(i));
    out_ += to_window_;
  }

 private:
  using Element = std::conditional_t<kOutput == RowOutput::reduced, unsigned, typename Sums::Element>;

  __device__ Element element(unsigned bits) const {
    if constexpr (kOutput == RowOutput::reduced)
      return bits;
    else
      return Sums::element(bits, unit_);
  }

  Element *row_, *out_ = nullptr;
  int bins_;  // the bins that are left from this word on; at most Sums::kBins are written
  int to_window_, to_bin_;
  long long to_row_ = 0;
  float unit_;
  bool writes_pairs_ = false;
};

// Copies elements shift to shift + count - 1 of the staging area to out[0], out[1] and so on. `out` must be `shift`
// elements past a multiple of 16 bytes, so that most elements can be copied as vectors of 16 bytes.
template <typename Element>
__device__ void copy_aligned(const TilePlan &plan, const unsigned char *stage, int shift, int count,
                             Element *out) {
  constexpr int kPerVector = 16 / sizeof(Element);
  const auto *vectors = reinterpret_cast<const uint4 *>(stage);
  const auto *elements = reinterpret_cast<const Element *>(stage);
  Element *aligned = out - shift;
  for (int v = static_cast<int>(threadIdx.x); v * kPerVector < shift + count; v += plan.threads) {
    const int first = v * kPerVector;
    if (first >= shift && first + kPerVector <= shift + count)
      __stcs(reinterpret_cast<uint4 *>(aligned + first), vectors[v]);
    else
      for (int i = max(first, shift); i < min(first + kPerVector, shift + count); ++i)
        aligned[i] = elements[i];
  }
}

// Copies the staged histograms to global memory.
template <typename Sums, typename Tile>
__device__ void write_staged(const Windows &w, const Tile &tile, const WindowRow &row, int shift, int bins) {
  using Element = typename Sums::Element;
  auto *out = static_cast<Element *>(w.output.histograms);
  if (w.layout == LocalHistLayout::interleaved)
    return copy_aligned(w.plan, tile.stage, shift, row.cols * bins, out + row.index(w, 0) * w.bins);
  // With the planar layout, each warp copies one bin of all windows at a time.
  constexpr int kWarp = 32;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (int bin = static_cast<int>(threadIdx.x) / kWarp; bin < bins; bin += w.plan.threads / kWarp) {
    const auto *staged = reinterpret_cast<const Element *>(tile.stage) + bin * w.plan.cols;
    Element *plane = out + static_cast<long long>(tile.first_bin + bin) * w.rows * w.cols + row.index(w, 0);
    for (int col = lane; col < row.cols; col += kWarp) __stcs(plane + col, staged[col]);
  }
}

// One thread per window visits the bins in ascending order, so that f32 sums are added in the same order as
// on the CPU. Between groups of bins the intermediate result is kept in the output arrays.
template <typename Sums, typename Tile>
__device__ void write_reduction(const Windows &w, const Tile &tile, const WindowRow &row, int bins) {
  const bool argmax = w.reduction == LocalHistReduction::argmax;
  for (int col = static_cast<int>(threadIdx.x); col < row.cols; col += w.plan.threads) {
    const unsigned *numbers = reinterpret_cast<const unsigned *>(tile.stage) + col * w.plan.stage_stride;
    const long long at = row.index(w, col);
    const float total = w.has_total ? Sums::number(numbers[(w.plan.words - 1) * Sums::kBins])
                                    : static_cast<float>(w.window.width * w.window.height);
    Reduced reduced;
    if (tile.first_bin > 0) reduced = {w.output.value[at], argmax ? w.output.argmax[at] : 0};
    for (int i = 0; i < bins; ++i)
      reduced =
          reduce_bin(w.reduction, reduced, tile.first_bin + i, Sums::number(numbers[i]), total, w.model);
    if (tile.first_bin + bins == w.bins) reduced = finish_reduction(w.reduction, reduced, total);
    w.output.value[at] = reduced.value;
    if (argmax) w.output.argmax[at] = static_cast<std::uint16_t>(reduced.bin);
  }
}

}  // namespace cudavision::localhist
