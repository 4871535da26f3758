// SPDX-License-Identifier: LGPL-2.1-or-later
// The histograms of the pixel columns of a tile, in the shared memory of a block. Each covers as many rows as
// a window is high, and moves down with the windows.
#pragma once

#include <cuda_runtime.h>

#include "cuda/localhist/samples.cuh"
#include "cuda/localhist/tile_plan.h"

namespace cudavision::localhist {

// The number of samples that a thread loads before it counts the first of them, so that the loads overlap.
constexpr int kAhead = 8;

// Bins [first_bin, first_bin + plan.group_bins) of pixel columns [x, x + columns). The words of a column and
// of a segment have the same layout; if `has_total` is set, the last word holds the sum of all bins.
template <typename Sums>
struct ColumnTile {
  unsigned *words;     // [plan.columns][plan.column_stride]
  unsigned *segments;  // [segments of columns][plan.words]
  unsigned *stage;     // [plan.cols][plan.stage_stride]
  int x, columns, first_bin;
  bool has_total;

  __device__ ColumnTile(unsigned char *shared, const TilePlan &plan)
      : words(reinterpret_cast<unsigned *>(shared)),
        segments(words + plan.columns * plan.column_stride),
        stage(segments + divide_up(plan.columns, plan.segment) * plan.words) {}

  // The value to add to the word of a bin so that the bin changes by times * weight. The halves of a word
  // never overflow in the final result; until then, a subtraction that comes before its addition may borrow
  // from the other half.
  __device__ static unsigned word_value(int bin, unsigned weight, int times) {
    const unsigned value = static_cast<unsigned>(times) * weight;
    return Sums::kBins == 2 && bin % 2 != 0 ? value << 16 : value;
  }
  // False for kNoBin, which is larger than every bin.
  __device__ bool has(const TilePlan &plan, int bin) const {
    return bin >= first_bin && bin < first_bin + plan.group_bins;
  }
  // Adds the sample `times` times to a column. Only the calling thread may access the column.
  __device__ void add_to_column(unsigned *column, const TilePlan &plan, Sample sample, int times) const {
    const int bin = sample.bin - first_bin;
    if (has(plan, sample.bin)) column[bin / Sums::kBins] += word_value(bin, sample.weight, times);
    if (has_total) column[plan.words - 1] += word_value(0, sample.weight, times);
  }
  // The same for a segment of columns, which other threads may change at the same time. Does not change the
  // total.
  __device__ void add_to_segment(unsigned *segment, const TilePlan &plan, Sample sample, int times) const {
    const int bin = sample.bin - first_bin;
    if (has(plan, sample.bin)) atomicAdd(&segment[bin / Sums::kBins], word_value(bin, sample.weight, times));
  }

  // Counts rows [y, y + height). All threads of the block must call this; it ends with a barrier.
  template <typename Source>
  __device__ void count(const Source &source, const TilePlan &plan, int y, int height) {
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < columns; i += kBlockThreads) {
      unsigned *column = words + i * plan.column_stride;
      for (int w = 0; w < plan.column_stride; ++w) column[w] = 0;
      for (int row = 0; row < height; row += kAhead) {
        Sample samples[kAhead];
#pragma unroll
        for (int k = 0; k < kAhead; ++k)
          if (row + k < height) samples[k] = source.at(x + i, y + row + k);
#pragma unroll
        for (int k = 0; k < kAhead; ++k) add_to_column(column, plan, samples[k], 1);
      }
    }
    __syncthreads();
    const int count = divide_up(columns, plan.segment) * plan.words;
    for (int i = thread; i < count; i += kBlockThreads) {
      const int first = i / plan.words * plan.segment, word = i % plan.words;
      unsigned sum = 0;
      for (int c = first; c < min(first + plan.segment, columns); ++c)
        sum += words[c * plan.column_stride + word];
      segments[i] = sum;
    }
    __syncthreads();
  }

  // Moves the top row of the windows from y to y + 1. The caller must place a barrier before the columns are
  // read.
  template <typename Source>
  __device__ void move_down(const Source &source, const TilePlan &plan, int y, int height) {
    for (int first = static_cast<int>(threadIdx.x); first < columns; first += kAhead / 2 * kBlockThreads) {
      Sample leaving[kAhead / 2], entering[kAhead / 2];
#pragma unroll
      for (int k = 0; k < kAhead / 2; ++k)
        if (const int i = first + k * kBlockThreads; i < columns) {
          leaving[k] = source.at(x + i, y);
          entering[k] = source.at(x + i, y + height);
        }
#pragma unroll
      for (int k = 0; k < kAhead / 2; ++k)
        if (leaving[k].bin != entering[k].bin || leaving[k].weight != entering[k].weight)
          exchange(plan, first + k * kBlockThreads, leaving[k], entering[k]);
    }
  }

  // Replaces a sample in column i and in the segment that it belongs to.
  __device__ void exchange(const TilePlan &plan, int i, Sample leaving, Sample entering) {
    unsigned *column = words + i * plan.column_stride;
    unsigned *segment = segments + i / plan.segment * plan.words;
    add_to_column(column, plan, leaving, -1);
    add_to_column(column, plan, entering, 1);
    add_to_segment(segment, plan, leaving, -1);
    add_to_segment(segment, plan, entering, 1);
    if (has_total && leaving.weight != entering.weight)
      atomicAdd(&segment[plan.words - 1], entering.weight - leaving.weight);
  }

  // The sums over the first window of segment s; a window is `window` columns wide.
  __device__ Sums first_window(const TilePlan &plan, int window, int s, int word) const {
    Sums sums;
    const int whole = window / plan.segment;
    for (int k = 0; k < whole; ++k) sums.add(segments[(s + k) * plan.words + word]);
    const int end = s * plan.segment + window;
    for (int c = (s + whole) * plan.segment; c < end; ++c) sums.add(words[c * plan.column_stride + word]);
    return sums;
  }
};

}  // namespace cudavision::localhist
