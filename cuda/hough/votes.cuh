// SPDX-License-Identifier: LGPL-2.1-or-later
// The second kernel of the Hough transform: votes, peaks and their order.
//
// A block counts the votes of a share of the points for a group of directions, in shared memory (after G.-J.
// van den Braak et al., "Fast Hough Transform on GPUs", ACIVS 2011), and adds them to the accumulator. The
// last block to add to what a group's peaks are compared with looks for them, and the last block of all sorts
// them: nothing waits.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/block_sort.cuh"
#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/last_block.cuh"
#include "cuda/hough/hough_rules.h"
#include "cuda/hough/points.cuh"

namespace cudavision::hough {

constexpr int kVoteThreads = 1024;
constexpr int kMaxGroupAngles = 64;

// How the votes are shared out. Blocks are groups x shares.
struct VoteGrid {
  int group_angles;  // directions of a group, at most kMaxGroupAngles
  int group_count, share_count;
  int reach;       // how many groups to each side a group's peaks are compared with
  int cache_keys;  // room for sorting in the dynamic shared memory: a power of two
};

struct VoteTask {
  Space space;
  VoteGrid grid;
  PointList list;
  const Stretches *stretches;  // of each gradient direction
  Counters *counters;
  int turn;               // which of the counters of points
  unsigned *groups_done;  // blocks that have added to a group or to one of those within its reach
  Key *keys;
  std::uint32_t threshold;
  int nms_radius, max_lines;
  bool write_lines;
  HoughList list_out;
};

// The group's directions in shared memory: what a vote needs of them.
struct GroupAngles {
  float scaled_cos[kMaxGroupAngles], scaled_sin[kMaxGroupAngles];
  int bias[kMaxGroupAngles];  // distance_bits() less this is the cell within the group's rows
};

__device__ inline void vote_once(const GroupAngles &angles, std::uint32_t *cells, int a, float x, float y) {
  // The literal 1 and the dropped result make this the instruction that adds up equal addresses of a warp
  // first.
  atomicAdd(&cells[distance_bits(x, y, angles.scaled_cos[a], angles.scaled_sin[a]) - angles.bias[a]], 1u);
}

// The votes of this block's share of the points go to cells: the group's rows, in shared or in global memory.
template <bool kGradient>
__device__ void count_votes(const VoteTask &task, const GroupAngles &angles, int first_angle, int angle_count,
                            std::uint32_t *cells) {
  const unsigned long long total = task.counters->points[task.turn], share = blockIdx.y, shares = gridDim.y;
  const auto begin = static_cast<unsigned>(total * share / shares);
  const auto end = static_cast<unsigned>(total * (share + 1) / shares);
  // Warps begin at different directions, so that they do not all count in one row.
  const int offset = angle_count == 0 ? 0 : static_cast<int>(threadIdx.x) / 32 % angle_count;
  for (unsigned i = begin + threadIdx.x; i < end; i += kVoteThreads) {
    const unsigned point = task.list.points[i];
    const float x = static_cast<float>(point_x(point)), y = static_cast<float>(point_y(point));
    if constexpr (kGradient) {
      const Stretches near = task.stretches[task.list.directions[i]];
      for (int part = 0; part < 2; ++part)
        for (int n = max(near.begin[part], first_angle); n < min(near.end[part], first_angle + angle_count);
             ++n)
          vote_once(angles, cells, n - first_angle, x, y);
    } else {
#pragma unroll 4
      for (int a = offset; a < angle_count; ++a) vote_once(angles, cells, a, x, y);
#pragma unroll 4
      for (int a = 0; a < offset; ++a) vote_once(angles, cells, a, x, y);
    }
  }
}

// Appends the peaks of a group. Other blocks have written the votes, so that they are read through L2.
__device__ inline void find_peaks(const VoteTask &task, int group) {
  const Space &space = task.space;
  const int first = group * task.grid.group_angles,
            last = min(first + task.grid.group_angles, space.angle_count);
  const int quads_per_row = space.stride / 4, quads = (last - first) * quads_per_row;
  const auto load = [&space](std::ptrdiff_t offset) { return __ldcg(space.votes + offset); };
  const uint4 *cells = reinterpret_cast<const uint4 *>(space.votes + space.row(first));
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < quads; i += kVoteThreads) {
    const uint4 four = __ldcg(cells + i);
    if (max(max(four.x, four.y), max(four.z, four.w)) <= task.threshold) continue;
    const int n = first + i / quads_per_row, column = i % quads_per_row * 4;
    for (int k = 0; k < 4; ++k) {
      const unsigned votes = k == 0 ? four.x : k == 1 ? four.y : k == 2 ? four.z : four.w;
      const int distance = space.angles[n].first + column + k;
      if (votes <= task.threshold || !is_peak(space, n, distance, votes, task.nms_radius, load)) continue;
      task.keys[atomicAdd(&task.counters->peaks, 1u)] = key_of(space, n, distance, votes);
    }
  }
}

// Finds the peaks of those groups that this block was the last to wait for.
__device__ inline void find_peaks_of_complete_groups(const VoteTask &task, bool *shared) {
  const VoteGrid &grid = task.grid;
  const int group = static_cast<int>(blockIdx.x), last = grid.group_count - 1;
  for (int g = max(group - grid.reach, 0); g <= min(group + grid.reach, last); ++g) {
    const int within_reach = min(g + grid.reach, last) - max(g - grid.reach, 0) + 1;
    if (is_last_block(&task.groups_done[g], static_cast<unsigned>(within_reach) * gridDim.y, shared))
      find_peaks(task, g);
  }
}

template <bool kGradient, bool kInShared>
static __global__ void __launch_bounds__(kVoteThreads) vote_kernel(const __grid_constant__ VoteTask task) {
  __shared__ GroupAngles angles;
  __shared__ bool is_last;
  CUDAVISION_DYNAMIC_SHARED(unsigned char, shared);
  const Space &space = task.space;
  const int thread = static_cast<int>(threadIdx.x),
            first = static_cast<int>(blockIdx.x) * task.grid.group_angles;
  const int count = max(min(task.grid.group_angles, space.angle_count - first), 0),
            cells = count * space.stride;
  std::uint32_t *total = space.votes + space.row(first), *own = reinterpret_cast<std::uint32_t *>(shared);
  if (thread < count) {
    const Angle angle = space.angles[first + thread];
    angles.scaled_cos[thread] = angle.scaled_cos;
    angles.scaled_sin[thread] = angle.scaled_sin;
    angles.bias[thread] = kRoundingBits + angle.first - thread * space.stride;
  }
  if constexpr (kInShared)
    for (int i = thread; i < cells; i += kVoteThreads) own[i] = 0;
  __syncthreads();
  count_votes<kGradient>(task, angles, first, count, kInShared ? own : total);
  if constexpr (kInShared) {
    __syncthreads();
    for (int i = thread; i < cells; i += kVoteThreads)
      if (own[i] != 0) atomicAdd(&total[i], own[i]);
  }
  find_peaks_of_complete_groups(task, &is_last);
  if (!is_last_block(&task.counters->blocks_done, gridDim.x * gridDim.y, &is_last)) return;

  const int peaks = static_cast<int>(__ldcg(&task.counters->peaks));
  sort_keys<kVoteThreads>(task.keys, peaks, reinterpret_cast<SortKey *>(shared), task.grid.cache_keys);
  if (!task.write_lines) return;
  const int listed = min(peaks, task.max_lines);
  for (int i = thread; i < listed; i += kVoteThreads) task.list_out.lines[i] = line_of(space, task.keys[i]);
  if (thread == 0) *task.list_out.count = {listed, peaks, peaks};
}

// votes(r, n): the accumulator without gaps.
static __global__ void __launch_bounds__(kListThreads)
    copy_votes_kernel(Space space, ImageView<std::uint32_t> votes) {
  const int n = static_cast<int>(blockIdx.y), r = static_cast<int>(blockIdx.x * kListThreads + threadIdx.x);
  if (r >= space.rho_count) return;
  const auto load = [&space](std::ptrdiff_t offset) { return space.votes[offset]; };
  votes.row(n)[r] = votes_at(space, n, r - space.index_of(0), load);
}

}  // namespace cudavision::hough
