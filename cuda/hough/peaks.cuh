// SPDX-License-Identifier: LGPL-2.1-or-later
// The third to the fifth kernel of the Hough transform find the peaks of the accumulator and sort them.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/launch_cuda.h"
#include "cuda/common/resident_blocks.cuh"
#include "cuda/common/static_shared.cuh"
#include "cuda/common/tile_sort.cuh"
#include "cuda/hough/hough_rules.h"
#include "cuda/hough/points.cuh"

namespace cudavision::hough {

struct PeakTask {
  Accumulator accumulator;
  Counters *counters;
  Key *found, *sorted;  // the keys of the peaks
  std::uint32_t threshold;
  int nms_radius, max_lines;
  bool write_lines;
  HoughList list_out;
};

__device__ inline unsigned votes_of_quad(uint4 quad, int k) {
  return k == 0 ? quad.x : k == 1 ? quad.y : k == 2 ? quad.z : quad.w;
}

// Writes the keys of the peaks among four neighbouring cells, of which at most two are peaks, and returns the number of
// peaks. i: the index of the four cells in the accumulator.
__device__ inline int peaks_of_quad(const PeakTask &task, int i, Key *first_key, Key *second_key) {
  const Accumulator &accumulator = task.accumulator;
  const uint4 four = reinterpret_cast<const uint4 *>(accumulator.votes)[i];
  if (max(max(four.x, four.y), max(four.z, four.w)) <= task.threshold) return 0;
  const auto load = [&accumulator](std::ptrdiff_t offset) { return accumulator.votes[offset]; };
  const int quads_per_row = accumulator.stride / 4, n = i / quads_per_row;
  const int first = accumulator.angles[n].first + (i - n * quads_per_row) * 4;
  unsigned above = 0;  // bit k is set if cell k exceeds the threshold
#pragma unroll
  for (int k = 0; k < 4; ++k) above |= (votes_of_quad(four, k) > task.threshold ? 1u : 0u) << k;
  int count = 0;
  for (; above != 0; above &= above - 1) {
    const int k = trailing_zeros(above);
    const unsigned votes = votes_of_quad(four, k);
    if (!is_peak(accumulator, n, first + k, votes, task.nms_radius, load)) continue;
    const Key key = key_of(accumulator, n, first + k, votes);
    if (count++ == 0)
      *first_key = key;
    else
      *second_key = key;
  }
  return count;
}

// One thread per four neighbouring cells.
static __global__ void __launch_bounds__(kListThreads, resident_blocks(kListThreads, 6))
    find_peaks_kernel(const __grid_constant__ PeakTask task) {
  CUDAVISION_SHARED(int[kListThreads / 32], warp_sums);
  CUDAVISION_SHARED(unsigned, block_begin);
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int i = static_cast<int>(blockIdx.x) * kListThreads + static_cast<int>(threadIdx.x);
  const int quads = task.accumulator.angle_count * (task.accumulator.stride / 4);
  Key first = 0, second = 0;
  const int count = i < quads ? peaks_of_quad(task, i, &first, &second) : 0;
  const unsigned at = reserve(count, &task.counters->peaks, &block_begin, warp_sums);
  if (count > 0) task.found[at] = first;
  if (count > 1) task.found[at + 1] = second;
}

// Sorts the tiles of the list of peaks.
static __global__ void __launch_bounds__(kTileThreads)
    sort_peaks_kernel(const __grid_constant__ PeakTask task) {
  CUDAVISION_SHARED(SortKey[kLargeTile], tile);
  let_next_kernel_start();
  wait_for_kernel_ahead();
  sort_tiles(task.found, static_cast<int>(task.counters->peaks), tile);
}

// Writes the lines in their final order or, if segments are searched, only the sorted keys.
static __global__ void __launch_bounds__(kTileThreads)
    place_peaks_kernel(const __grid_constant__ PeakTask task) {
  CUDAVISION_SHARED(SortKey[kLargeTile], tile);
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int peaks = static_cast<int>(task.counters->peaks);
  for_each_place(task.found, peaks, task.max_lines, tile, [&task](int place, Key key) {
    if (task.write_lines)
      task.list_out.lines[place] = line_of(task.accumulator, key);
    else
      task.sorted[place] = key;
  });
  if (task.write_lines && blockIdx.x == 0 && threadIdx.x == 0)
    *task.list_out.count = {min(peaks, task.max_lines), peaks, peaks};
}

}  // namespace cudavision::hough
