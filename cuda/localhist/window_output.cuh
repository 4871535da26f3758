// SPDX-License-Identifier: LGPL-2.1-or-later
// The output of a block: histograms, written directly or from a staging area in shared memory, or their
// reductions.
#pragma once

#include <cuda_runtime.h>

#include "cuda/localhist/column_tile.cuh"

namespace cudavision::localhist {

// The kernel's parameters, passed by value.
struct Windows {
  TilePlan plan;
  int rows, cols;  // of the map
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

// The windows of a tile in one row: `cols` windows of row y of the map, from column first_col on.
struct WindowRow {
  int y, first_col, cols;

  __device__ long long index(const Windows &w, int col) const {
    return static_cast<long long>(y) * w.cols + first_col + col;
  }
};

// Writes the bins of one word directly to global memory.
template <typename Sums>
__device__ void write_word(const Windows &w, const Sums &sums, const WindowRow &row, int col, int first_bin,
                           int word) {
  using Element = typename Sums::Element;
  const int bin = first_bin + word * Sums::kBins;
  if (bin >= w.bins) return;  // the last group has fewer bins than the others
  Element *out = static_cast<Element *>(w.output.histograms) + row.index(w, col) * w.bins + bin;
  if constexpr (sizeof(Element) == 2) {
    if (w.pairs_align) {
      __stcs(reinterpret_cast<unsigned *>(out), sums.bits(0) | sums.bits(1) << 16);
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < Sums::kBins; ++i)
    if (bin + i < w.bins) out[i] = Sums::element(sums.bits(i), w.unit);
}

// Copies the staged histograms to global memory; neighbouring threads write neighbouring addresses.
template <typename Sums>
__device__ void write_histograms(const Windows &w, const ColumnTile<Sums> &tile, const WindowRow &row,
                                 int bins) {
  auto *out = static_cast<typename Sums::Element *>(w.output.histograms);
  const bool planar = w.layout == LocalHistLayout::planar;
  // i / inner is the upper half of i * reciprocal; this is exact because both are less than 2^16.
  const unsigned inner = static_cast<unsigned>(planar ? row.cols : bins);
  const unsigned reciprocal = 0xffffffffu / inner + 1;
  for (int i = static_cast<int>(threadIdx.x); i < row.cols * bins; i += kBlockThreads) {
    const unsigned at = static_cast<unsigned>(i), quotient = inner == 1 ? at : __umulhi(at, reciprocal);
    const int outer = static_cast<int>(quotient), rest = static_cast<int>(at - quotient * inner);
    const int col = planar ? rest : outer, bin = planar ? outer : rest;
    const unsigned bits = tile.stage[col * w.plan.stage_stride + bin];
    const long long place =
        planar ? static_cast<long long>(tile.first_bin + bin) * w.rows * w.cols + row.index(w, col)
               : row.index(w, col) * w.bins + tile.first_bin + bin;
    __stcs(out + place, Sums::element(bits, w.unit));
  }
}

// One thread per window visits the bins in ascending order, so that f32 sums are added in the same order as
// on the CPU. Between groups of bins the intermediate result is kept in the output arrays.
template <typename Sums>
__device__ void write_reduction(const Windows &w, const ColumnTile<Sums> &tile, const WindowRow &row,
                                int bins) {
  const int col = static_cast<int>(threadIdx.x);
  if (col >= row.cols) return;
  const unsigned *numbers = tile.stage + col * w.plan.stage_stride;
  const long long at = row.index(w, col);
  const bool argmax = w.reduction == LocalHistReduction::argmax;
  const float total = w.has_total ? Sums::number(numbers[(w.plan.words - 1) * Sums::kBins])
                                  : static_cast<float>(w.window.width * w.window.height);
  Reduced reduced;
  if (tile.first_bin > 0) reduced = {w.output.value[at], argmax ? w.output.argmax[at] : 0};
  for (int i = 0; i < bins; ++i)
    reduced = reduce_bin(w.reduction, reduced, tile.first_bin + i, Sums::number(numbers[i]), total, w.model);
  if (tile.first_bin + bins == w.bins) reduced = finish_reduction(w.reduction, reduced, total);
  w.output.value[at] = reduced.value;
  if (argmax) w.output.argmax[at] = static_cast<std::uint16_t>(reduced.bin);
}

}  // namespace cudavision::localhist
