// SPDX-License-Identifier: LGPL-2.1-or-later
// The histograms of the pixel columns of a tile, in a block's shared memory: each counts as many rows as a
// window is high, and goes down with the windows.
#pragma once

#include <cuda_runtime.h>

#include "cuda/localhist/samples.h"
#include "cuda/localhist/tile_plan.h"

namespace cudavision::localhist {

// Samples that a thread loads before it counts the first of them: one at a time each would wait for the last.
constexpr int kAhead = 8;

// Bins [first_bin, first_bin + plan.group_bins) of pixel columns [x, x + columns). Words of columns and of
// segments are laid out alike; the last one holds the sum of all bins where `has_total` is set.
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

  // What times the weight is in the word of a bin. Halves of a word never overflow in the end; where a
  // subtraction comes first they borrow from each other for a while.
  __device__ static unsigned in_word(int bin, unsigned weight, int times) {
    const unsigned value = static_cast<unsigned>(times) * weight;
    return Sums::kBins == 2 && bin % 2 != 0 ? value << 16 : value;
  }
  __device__ bool has(const TilePlan &plan, int bin) const {  // kNoBin lies beyond every group
    return bin >= first_bin && bin < first_bin + plan.group_bins;
  }
  // Adds the sample so many times to a column, which the thread owns.
  __device__ void add_to_column(unsigned *column, const TilePlan &plan, Sample sample, int times) const {
    const int bin = sample.bin - first_bin;
    if (has(plan, sample.bin)) column[bin / Sums::kBins] += in_word(bin, sample.weight, times);
    if (has_total) column[plan.words - 1] += in_word(0, sample.weight, times);
  }
  // The same to the segment of columns that it belongs to, while other threads do so too.
  __device__ void add_to_segment(unsigned *segment, const TilePlan &plan, Sample sample, int times) const {
    const int bin = sample.bin - first_bin;
    if (has(plan, sample.bin)) atomicAdd(&segment[bin / Sums::kBins], in_word(bin, sample.weight, times));
  }

  // Counts rows [y, y + height). The block's threads all call it, and meet before anything is read.
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

  // Moves the windows' top from row y down to the next.
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

  // Of column i and the segment that it belongs to.
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

  // Sums over the first window of segment s; `window` columns wide.
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
