// SPDX-License-Identifier: LGPL-2.1-or-later
// The histograms of the pixel columns of a tile, the windows of one block (tile_plan.h), in shared memory. Each
// histogram covers as many rows of pixels as a window is high, and moves down with the windows.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/localhist/samples.cuh"
#include "cuda/localhist/tile_plan.h"

namespace cudavision::localhist {

// Prefix sums of the histograms of a picture's pixel columns, in global memory. A strip is kStripRows rows, and
// kGroupStrips strips form a group. The entry of a strip covers all rows from the start of its group to the end of the
// strip. Computed once per picture, for all tiles.
struct StripSums {
  unsigned *sums = nullptr;  // [whole strips][words of a column][columns]; null if the plan does not use them
  int columns = 0;

  __device__ unsigned *at(int strip, int word, int words, int x) const {
    return sums + (static_cast<std::ptrdiff_t>(strip) * words + word) * columns + x;
  }
};

// One of the two counts of a word. On a little-endian machine the count of the lower bin, in the lower half of the
// word, comes first in memory. may_alias: the same memory is also accessed as words.
using HalfOfWord [[gnu::may_alias]] = std::uint16_t;

// The histograms of pixel columns [x, x + columns), limited to bins [first_bin, first_bin + plan.group_bins). A span is
// plan.span neighbouring columns; the sums over it have the same layout in words as the histogram of a column. With
// kMayHaveTotal, the last word holds the sum of all bins if `has_total` is set. Sums: a class of window_sums.cuh.
template <typename Sums, bool kMayHaveTotal>
struct ColumnTile {
  unsigned *words;  // [plan.columns + 1][plan.column_stride]
  unsigned *spans;  // [spans][plan.words]: the sums over each span, unless plan.spans_of_window is 0
  unsigned char *stage;
  int x, columns, first_bin;
  bool has_total;

  __device__ ColumnTile(unsigned *shared, const TilePlan &plan)
      : words(shared),
        spans(shared + plan.spans_offset),
        stage(reinterpret_cast<unsigned char *>(shared + plan.stage_offset)) {}

  // Adds a sample to the histogram of a column (kTimes = 1), or removes it (kTimes = -1). Only the calling thread may
  // access that column. A sample with the bin kNoBin counts in no bin, because kNoBin is larger than every bin. The
  // halves of a word neither overflow, because a window is at most 1024 pixels high, nor borrow from each other,
  // because only samples that were counted are removed.
  template <int kTimes>
  __device__ void add_to_column(unsigned *column, const TilePlan &plan, Sample sample) const {
    const unsigned bin = static_cast<unsigned>(sample.bin - first_bin);
    if (bin < static_cast<unsigned>(plan.group_bins)) {
      if constexpr (Sums::kCounts) {
        HalfOfWord &half = reinterpret_cast<HalfOfWord *>(column)[bin];
        half = static_cast<HalfOfWord>(half + kTimes);
      } else {
        column[bin] += kTimes > 0 ? sample.weight : 0u - sample.weight;
      }
    }
    if constexpr (kMayHaveTotal)
      if (has_total) column[plan.words - 1] += kTimes > 0 ? sample.weight : 0u - sample.weight;
  }

  // Replaces the sample `leaving` of column i by the sample `entering`.
  __device__ void exchange(const TilePlan &plan, int i, Sample leaving, Sample entering) const {
    unsigned *column = words + i * plan.column_stride;
    add_to_column<-1>(column, plan, leaving);
    add_to_column<1>(column, plan, entering);
  }

  // Computes the histograms of all columns over rows [y, y + height). A barrier must follow before they are read.
  template <typename Source>
  __device__ void count(const Source &source, const TilePlan &plan, const StripSums &strips, int y,
                        int height) const {
    // The strips [first, end) that lie completely within these rows.
    const int first = divide_up(y, kStripRows), end = (y + height) / kStripRows;
    const bool uses_strips = strips.sums != nullptr && first < end;
    for (int i = static_cast<int>(threadIdx.x); i < columns; i += plan.threads) {
      clear(plan, i);
      int row = y;
      if (uses_strips) {
        count_rows(source, plan, i, y, first * kStripRows);
        add_strips(plan, strips, i, first, end);
        row = end * kStripRows;
      }
      count_rows(source, plan, i, row, y + height);
    }
  }

  __device__ void clear(const TilePlan &plan, int i) const {
    unsigned *column = words + i * plan.column_stride;
#pragma unroll 4
    for (int w = 0; w < plan.column_stride; ++w) column[w] = 0;
  }

  // Counts rows [y, end) of column i, which only the calling thread may access.
  template <typename Source>
  __device__ void count_rows(const Source &source, const TilePlan &plan, int i, int y, int end) const {
    constexpr int kAhead = 8;  // samples that are loaded before the first of them is counted
    unsigned *column = words + i * plan.column_stride;
    PixelColumn<Source> pixels(source, x + i, y);
    int rows = end - y;
    for (; rows >= kAhead; rows -= kAhead) {
      Sample samples[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k, pixels.move(source.pixels.pitch_bytes))
        samples[k] = pixels.sample(source);
#pragma unroll
      for (int k = 0; k < kAhead; ++k) add_to_column<1>(column, plan, samples[k]);
    }
#pragma unroll 1
    for (; rows > 0; --rows, pixels.move(source.pixels.pitch_bytes))
      add_to_column<1>(column, plan, pixels.sample(source));
  }

  // Adds the histogram of strips [first, end) to column i: the prefix sums (StripSums) at the last of these strips and
  // at the end of each group before it, minus the prefix sum at strip first - 1, if that strip is in the group of strip
  // `first`. A word holds two counts. If the subtraction borrows from the upper one, the additions carry it back,
  // because both counts of the result fit their halves.
  __device__ void add_strips(const TilePlan &plan, const StripSums &strips, int i, int first, int end) const {
#pragma unroll 1
    for (int w = 0; w < plan.words; ++w) {
      const auto sum_at = [&](int strip) { return *strips.at(strip, w, plan.words, x + i); };
      unsigned sum = sum_at(end - 1) - (first % kGroupStrips == 0 ? 0 : sum_at(first - 1));
#pragma unroll 4
      for (int strip = (end - 1) / kGroupStrips * kGroupStrips - 1; strip >= first; strip -= kGroupStrips)
        sum += sum_at(strip);
      words[i * plan.column_stride + w] += sum;
    }
  }

  // Computes one word of the sums over spans `segment`, segment + plan.segments, and so on, so that the threads that
  // call this for the same word share the spans. The caller must place barriers before and after.
  __device__ void sum_spans(const TilePlan &plan, int segment, int word) const {
#pragma unroll 1
    for (int i = segment; i * plan.span < columns; i += plan.segments) {
      const unsigned *column = words + i * plan.span * plan.column_stride + word;
      unsigned sum = 0;
#pragma unroll 4
      for (int count = min(plan.span, columns - i * plan.span); count > 0;
           --count, column += plan.column_stride)
        sum += *column;
      spans[i * plan.words + word] = sum;
    }
  }

  // Returns the sums over the first window of a segment, for one word. A segment is the run of windows that a thread
  // slides over; a window is `width` columns wide.
  __device__ Sums first_window(const TilePlan &plan, int width, int segment, int word) const {
    Sums sums;
#pragma unroll 2
    for (int i = 0; i < plan.spans_of_window; ++i) sums.add(spans[(segment + i) * plan.words + word]);
    const int done = plan.spans_of_window * plan.span;
    const unsigned *column = words + (segment * plan.span + done) * plan.column_stride + word;
#pragma unroll 4
    for (int count = width - done; count > 0; --count, column += plan.column_stride) sums.add(*column);
    return sums;
  }
};

// Moves the column histograms of a tile down, row by row. For its first kAhead columns, each thread loads the samples
// that leave and enter long before they are needed, so that other work hides the latency.
template <typename Source, typename Tile>
class Mover {
 public:
  // y: the top row of pixels of the first windows. height: of a window.
  __device__ Mover(const Source &source, const Tile &tile, const TilePlan &plan, int y, int height)
      : y_(y), height_(height) {
#pragma unroll
    for (int k = 0; k < kAhead; ++k)
      if (const int i = column_of(plan, k); i < tile.columns)
        top_[k] = PixelColumn<Source>(source, tile.x + i, y);
  }

  // Loads the samples for the next move().
  __device__ void load(const Source &source, const Tile &tile, const TilePlan &plan) {
    const std::ptrdiff_t pitch = source.pixels.pitch_bytes;
#pragma unroll
    for (int k = 0; k < kAhead; ++k)
      if (column_of(plan, k) < tile.columns) {
        PixelColumn<Source> below = top_[k];
        below.move(height_ * pitch);
        leaving_[k] = top_[k].sample(source), entering_[k] = below.sample(source);
        top_[k].move(pitch);
      }
  }

  // Moves all columns down by one row of pixels. The caller must place barriers before and after.
  __device__ void move(const Source &source, const Tile &tile, const TilePlan &plan) {
#pragma unroll
    for (int k = 0; k < kAhead; ++k)
      if (const int i = column_of(plan, k); i < tile.columns)
        tile.exchange(plan, i, leaving_[k], entering_[k]);
#pragma unroll 1
    for (int i = column_of(plan, kAhead); i < tile.columns; i += plan.threads)
      tile.exchange(plan, i, PixelColumn<Source>(source, tile.x + i, y_).sample(source),
                    PixelColumn<Source>(source, tile.x + i, y_ + height_).sample(source));
    ++y_;
  }

 private:
  static constexpr int kAhead = 2;  // columns of a thread whose samples are loaded in advance

  __device__ static int column_of(const TilePlan &plan, int k) {
    return static_cast<int>(threadIdx.x) + k * plan.threads;
  }

  int y_, height_;
  PixelColumn<Source> top_[kAhead];
  Sample leaving_[kAhead], entering_[kAhead];
};

}  // namespace cudavision::localhist
