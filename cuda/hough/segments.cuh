// SPDX-License-Identifier: LGPL-2.1-or-later
// The last four kernels of the Hough transform search for segments (walk_rules.h): the first one uses one warp per
// line, the second one uses one warp per candidate, and the last two sort the segments.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/launch_cuda.h"
#include "cuda/common/resident_blocks.cuh"
#include "cuda/common/static_shared.cuh"
#include "cuda/common/tile_sort.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/hough/line_runs.cuh"
#include "cuda/hough/points.cuh"
#include "cuda/hough/walk_rules.h"

namespace cudavision::hough {

constexpr int kWalkThreads = 256, kJudgeThreads = 512;

struct SegmentTask {
  Accumulator accumulator;
  ImageView<const std::uint8_t> edges;
  const Key *keys;  // the keys of the lines, by rank
  Counters *counters;
  unsigned *owners;            // the rank of the line that owns each pixel
  Key *candidates, *segments;  // packed runs (Run::pack())
  int max_lines, min_length, max_gap;
  HoughList list_out;

  __device__ unsigned &owner(Pixel pixel) const {
    return owners[static_cast<std::ptrdiff_t>(pixel.y) * edges.width + pixel.x];
  }
  // The number of lines along which segments are searched.
  __device__ int line_count() const { return min(static_cast<int>(counters->peaks), max_lines); }
};

// The number of blocks of walk_lines_kernel and of judge_candidates_kernel per multiprocessor.
constexpr int kSegmentBlocks = 4;

// The items that a warp processes: `first`, first + stride, and so on. If there are few items, only one block per
// multiprocessor gets any, so that the other blocks end at once and leave room for other kernels. Successive items are
// given to different blocks, because the first lines, which have the most votes, also have the most candidates.
struct WarpShare {
  int lane, first, stride;
};
__device__ inline WarpShare share_of_warp(int items) {
  const int thread = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x),
            warps = static_cast<int>(blockDim.x) / 32, all = static_cast<int>(gridDim.x);
  const int blocks = min(max(divide_up(items, warps), divide_up(all, kSegmentBlocks)), all);
  return {thread % 32, block < blocks ? thread / 32 * blocks + block : items, warps * blocks};
}

// Sets the bits of `present` for the steps of a line that are present; adds a word of zeros. All lanes must call.
__device__ inline void mark_steps(const LineWalk &walk, ImageView<const std::uint8_t> edges, int lane,
                                  unsigned *present) {
  constexpr int kAtOnce = 8;  // words of steps whose loads overlap
  const int words = divide_up(walk.steps, 32);
  for (int first = 0; first < words; first += kAtOnce) {
    unsigned edge[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int step = 32 * (first + k) + lane;
      edge[k] = step < walk.steps ? edges_of_step(walk, edges, step) : 0;
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const unsigned bits = __ballot_sync(kFullWarp, edge[k] != 0);
      if (lane == 0 && first + k < words) present[first + k] = bits;
    }
  }
  if (lane == 0) present[words] = 0;
  __syncwarp();
}

// Lists a run as a candidate and claims the edge pixels of its steps. The lanes share the steps. All lanes of the warp
// must call.
__device__ inline void add_candidate(const SegmentTask &task, const LineWalk &walk, const Run &run,
                                     int lane) {
  if (lane == 0) task.candidates[atomicAdd(&task.counters->candidates, 1u)] = run.pack();
  for (int step = run.first + lane; step <= run.last; step += 32) {
    const unsigned edges = edges_of_step(walk, task.edges, step);
#pragma unroll
    for (int n = 0; n < kPixelsOfStep; ++n)
      if ((edges >> n & 1) != 0)
        atomicMin(&task.owner(pixel_of(walk, step, n)), static_cast<unsigned>(run.rank));
  }
}

// The blocks of walk_lines_kernel that a multiprocessor holds at once. With more, the compiler would spill registers.
constexpr int kWalkBlocksAtOnce = kResidentThreads == 1536 ? 2 : kSpillsSooner ? 3 : 4;
// One warp per line.
static __global__ void __launch_bounds__(kWalkThreads, resident_blocks(kWalkThreads, kWalkBlocksAtOnce))
    walk_lines_kernel(const __grid_constant__ SegmentTask task) {
  CUDAVISION_SHARED(LineRuns[kWalkThreads / 32], runs_of_warp);
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int lines = task.line_count();
  const WarpShare share = share_of_warp(lines);
  const int lane = share.lane;
  LineRuns &runs = runs_of_warp[threadIdx.x / 32];
  for (int rank = share.first; rank < lines; rank += share.stride) {
    const LineWalk walk = walk_of(task.accumulator, peak_of(task.accumulator, task.keys[rank]));
    mark_steps(walk, task.edges, lane, runs.present);
    for_each_run(runs, walk.steps, task.max_gap, lane, [&](bool has_run, int first, int last) {
      const bool is_candidate =
          has_run && may_be_long(first, last, task.min_length) &&
          is_long(end_of_run(walk, task.edges, first), end_of_run(walk, task.edges, last), task.min_length);
      for (unsigned lanes = __ballot_sync(kFullWarp, is_candidate); lanes != 0; lanes &= lanes - 1) {
        const int from = trailing_zeros(lanes);
        const Run run{rank, __shfl_sync(kFullWarp, first, from), __shfl_sync(kFullWarp, last, from)};
        add_candidate(task, walk, run, lane);
      }
    });
  }
}

// Returns true in all lanes if the run owns a pixel in more than half of its present steps. All lanes of the
// warp must call.
__device__ inline bool owns(const SegmentTask &task, const LineWalk &walk, const Run &run, int lane) {
  int present = 0, own = 0;
  for (int step = run.first + lane; step <= run.last; step += 32) {
    const unsigned edges = edges_of_step(walk, task.edges, step);
    unsigned owners[kPixelsOfStep];  // all are loaded before the first is compared
#pragma unroll
    for (int n = 0; n < kPixelsOfStep; ++n)
      owners[n] = (edges >> n & 1) != 0 ? task.owner(pixel_of(walk, step, n)) : kUnclaimed;
    bool is_own = false;
#pragma unroll
    for (int n = 0; n < kPixelsOfStep; ++n) is_own |= owners[n] == static_cast<unsigned>(run.rank);
    present += edges != 0, own += is_own;
  }
  const int balance = warp_inclusive_sum(2 * own - present, lane);
  return __shfl_sync(kFullWarp, balance, 31) > 0;
}

static __global__ void __launch_bounds__(kJudgeThreads, resident_blocks(kJudgeThreads, 3))
    judge_candidates_kernel(const __grid_constant__ SegmentTask task) {
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int candidates = static_cast<int>(task.counters->candidates);
  const WarpShare share = share_of_warp(candidates);
  for (int i = share.first; i < candidates; i += share.stride) {
    const Run run = Run::unpack(task.candidates[i]);
    const LineWalk walk = walk_of(task.accumulator, peak_of(task.accumulator, task.keys[run.rank]));
    if (owns(task, walk, run, share.lane) && share.lane == 0)
      task.segments[atomicAdd(&task.counters->segments, 1u)] = run.pack();
  }
}

static __global__ void __launch_bounds__(kTileThreads)
    sort_segments_kernel(const __grid_constant__ SegmentTask task) {
  CUDAVISION_SHARED(SortKey[kLargeTile], tile);
  let_next_kernel_start();
  wait_for_kernel_ahead();
  sort_tiles(task.segments, static_cast<int>(task.counters->segments), tile);
}

static __global__ void __launch_bounds__(kTileThreads)
    place_segments_kernel(const __grid_constant__ SegmentTask task) {
  CUDAVISION_SHARED(SortKey[kLargeTile], tile);
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int found = static_cast<int>(task.counters->segments);
  for_each_place(task.segments, found, task.max_lines, tile, [&task](int place, Key key) {
    task.list_out.lines[place] = segment_of(task.accumulator, task.keys, key, task.edges);
  });
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *task.list_out.count = {min(found, task.max_lines), found, static_cast<int>(task.counters->peaks)};
}

}  // namespace cudavision::hough
