// SPDX-License-Identifier: LGPL-2.1-or-later
// The second kernel of the Hough transform: counts the votes. Each block counts the votes of a share of the points for
// a group of angles in shared memory (as in G.-J. van den Braak et al., "Fast Hough Transform on GPUs: Exploration of
// Algorithm Trade-Offs", ACIVS 2011) and adds them to the accumulator.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/resident_blocks.cuh"
#include "cuda/common/static_shared.cuh"
#include "cuda/hough/hough_rules.h"
#include "cuda/hough/points.cuh"

namespace cudavision::hough {

constexpr int kVoteThreads = 768;
// The minimum number of resident blocks per multiprocessor. Two leave 40 registers for each thread.
constexpr int kMinVoteBlocks = kSpillsSooner ? 1 : 2;
constexpr int kMaxGroupAngles = 64;

// The distribution of the votes over blocks: block (x, y) counts for group x of the angles and share y of the
// points.
struct VoteGrid {
  int group_angles;  // angles per group, at most kMaxGroupAngles
  int group_count, share_count;
};

struct VoteTask {
  Accumulator accumulator;
  VoteGrid grid;
  PointList list;
  const AngleIntervals *intervals;  // gradient_intervals_of(); read only with gradient voting
  const Counters *counters;
  int turn;  // the element of Counters::points that this frame uses
};

// An angle of a group in shared memory, read by one instruction.
struct __align__(16) GroupAngle {
  float scaled_cos, scaled_sin;
  int bias;  // distance_bits() minus this is the index of the cell in the group's rows
};

struct PointF {
  float x, y;
};
__device__ inline PointF point_at(const VoteTask &task, unsigned i) {
  const unsigned point = task.list.points[i];
  return {static_cast<float>(point_x(point)), static_cast<float>(point_y(point))};
}

__device__ inline void vote_once(const GroupAngle &angle, std::uint32_t *cells, PointF p) {
  // With the literal 1 and an unused result the compiler emits the instruction that first sums the lanes of a
  // warp which have the same address.
  atomicAdd(&cells[distance_bits(p.x, p.y, angle.scaled_cos, angle.scaled_sin) - angle.bias], 1u);
}

constexpr int kPointsAtOnce = 4;  // points that a thread holds at a time

// Counts the votes of kPointsAtOnce points, every kVoteThreads-th point from `first` on, for angles [0, count). Points
// from `end` on are left out; kAll: there are none. Angles are visited from `offset` on: warps begin at different ones
// to avoid contention for one row.
template <bool kAll>
__device__ void vote_for_all(const VoteTask &task, const GroupAngle *angles, int count, int offset,
                             unsigned first, unsigned end, std::uint32_t *cells) {
  PointF points[kPointsAtOnce] = {};
#pragma unroll
  for (int k = 0; k < kPointsAtOnce; ++k)
    if (const unsigned i = first + static_cast<unsigned>(k) * kVoteThreads; kAll || i < end)
      points[k] = point_at(task, i);
  for (int i = 0, a = offset; i < count; ++i) {
    const GroupAngle angle = angles[a];
    if (++a == count) a = 0;
#pragma unroll
    for (int k = 0; k < kPointsAtOnce; ++k)
      if (kAll || first + static_cast<unsigned>(k) * kVoteThreads < end) vote_once(angle, cells, points[k]);
  }
}

// Counts the votes of point i for the angles of the group that are close to its gradient.
__device__ inline void vote_near_gradient(const VoteTask &task, const GroupAngle *angles, int first_angle,
                                          int count, unsigned i, std::uint32_t *cells) {
  const AngleIntervals near = task.intervals[task.list.directions[i]];
  const PointF point = point_at(task, i);
  for (int part = 0; part < 2; ++part)
    for (int n = max(near.begin[part], first_angle); n < min(near.end[part], first_angle + count); ++n)
      vote_once(angles[n - first_angle], cells, point);
}

// Counts the votes of this block's share of the points. cells: the rows of the group, in shared or global
// memory.
template <bool kGradient>
__device__ void count_votes(const VoteTask &task, const GroupAngle *angles, int first_angle, int count,
                            std::uint32_t *cells) {
  constexpr unsigned kStep = kPointsAtOnce * kVoteThreads;
  const unsigned long long total = task.counters->points[task.turn], share = blockIdx.y, shares = gridDim.y;
  const auto begin = static_cast<unsigned>(total * share / shares);
  const auto end = static_cast<unsigned>(total * (share + 1) / shares);
  unsigned i = begin + threadIdx.x;
  if constexpr (kGradient) {
    for (; i < end; i += kVoteThreads) vote_near_gradient(task, angles, first_angle, count, i, cells);
  } else {
    const int offset = count == 0 ? 0 : static_cast<int>(threadIdx.x) / 32 % count;
    for (; i + (kStep - kVoteThreads) < end; i += kStep)
      vote_for_all<true>(task, angles, count, offset, i, end, cells);
    if (i < end) vote_for_all<false>(task, angles, count, offset, i, end, cells);
  }
}

template <bool kGradient, bool kInShared>
static __global__ void __launch_bounds__(kVoteThreads, resident_blocks(kVoteThreads, kMinVoteBlocks))
    vote_kernel(const __grid_constant__ VoteTask task) {
  CUDAVISION_SHARED(GroupAngle[kMaxGroupAngles], angles);
  CUDAVISION_DYNAMIC_SHARED(std::uint32_t, own);
  const Accumulator &accumulator = task.accumulator;
  const int thread = static_cast<int>(threadIdx.x),
            first = static_cast<int>(blockIdx.x) * task.grid.group_angles;
  const int count = max(min(task.grid.group_angles, accumulator.angle_count - first), 0),
            cells = count * accumulator.stride;
  std::uint32_t *total = accumulator.votes + accumulator.row(first);
  if constexpr (kInShared)
    for (int i = thread; i < cells; i += kVoteThreads) own[i] = 0;
  let_next_kernel_start();
  wait_for_kernel_ahead();
  if (thread < count) {
    const Angle angle = accumulator.angles[first + thread];
    angles[thread] = {angle.scaled_cos, angle.scaled_sin,
                      kRoundingBits + angle.first - thread * accumulator.stride};
  }
  __syncthreads();
  count_votes<kGradient>(task, angles, first, count, kInShared ? own : total);
  if constexpr (kInShared) {
    __syncthreads();
    for (int i = thread; i < cells; i += kVoteThreads)
      if (own[i] != 0) atomicAdd(&total[i], own[i]);
  }
}

// Writes the accumulator in the layout of Hough::copy_votes().
static __global__ void __launch_bounds__(kListThreads)
    copy_votes_kernel(Accumulator accumulator, ImageView<std::uint32_t> votes) {
  const int n = static_cast<int>(blockIdx.y), r = static_cast<int>(blockIdx.x * kListThreads + threadIdx.x);
  if (r >= accumulator.rho_count) return;
  const auto load = [&accumulator](std::ptrdiff_t offset) { return accumulator.votes[offset]; };
  votes.row(n)[r] = votes_at(accumulator, n, r - accumulator.index_of(0), load);
}

}  // namespace cudavision::hough
