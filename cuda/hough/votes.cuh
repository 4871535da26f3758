// SPDX-License-Identifier: LGPL-2.1-or-later
// The second kernel of the Hough transform: counts the votes, extracts the peaks and sorts them.
//
// Each block counts the votes of a share of the points for a group of angles in shared memory (as in G.-J.
// van den Braak et al., "Fast Hough Transform on GPUs: Exploration of Algorithm Trade-Offs", ACIVS 2011) and
// adds them to the accumulator. The last block to update the rows of a group and their neighbours within the
// suppression radius extracts the group's peaks; the last block overall sorts all peaks. No block waits for
// another one.
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

// The distribution of the votes over blocks: block (x, y) counts for group x of the angles and share y of the
// points.
struct VoteGrid {
  int group_angles;  // angles per group, at most kMaxGroupAngles
  int group_count, share_count;
  int reach;       // the peaks of a group are compared with the votes of this many groups to each side
  int cache_keys;  // the number of keys that the dynamic shared memory can sort: a power of two
};

struct VoteTask {
  Accumulator accumulator;
  VoteGrid grid;
  PointList list;
  const AngleIntervals *intervals;  // gradient_intervals_of(); read only with gradient voting
  Counters *counters;
  int turn;  // the element of Counters::points that this frame uses
  unsigned
      *groups_done;  // for each group: the number of blocks that have added to it or to a group within reach
  Key *keys;
  std::uint32_t threshold;
  int nms_radius, max_lines;
  bool write_lines;
  HoughList list_out;
};

// The angles of a group in shared memory, as a structure of arrays.
struct GroupAngles {
  float scaled_cos[kMaxGroupAngles], scaled_sin[kMaxGroupAngles];
  int bias[kMaxGroupAngles];  // distance_bits() minus this is the index of the cell in the group's rows
};

__device__ inline void vote_once(const GroupAngles &angles, std::uint32_t *cells, int a, float x, float y) {
  // With the literal 1 and an unused result the compiler emits the instruction that first sums the lanes of a
  // warp which have the same address.
  atomicAdd(&cells[distance_bits(x, y, angles.scaled_cos[a], angles.scaled_sin[a]) - angles.bias[a]], 1u);
}

// Counts the votes of this block's share of the points. cells: the rows of the group, in shared or global
// memory.
template <bool kGradient>
__device__ void count_votes(const VoteTask &task, const GroupAngles &angles, int first_angle, int angle_count,
                            std::uint32_t *cells) {
  const unsigned long long total = task.counters->points[task.turn], share = blockIdx.y, shares = gridDim.y;
  const auto begin = static_cast<unsigned>(total * share / shares);
  const auto end = static_cast<unsigned>(total * (share + 1) / shares);
  // Warps begin at different angles to avoid contention for one row.
  const int offset = angle_count == 0 ? 0 : static_cast<int>(threadIdx.x) / 32 % angle_count;
  for (unsigned i = begin + threadIdx.x; i < end; i += kVoteThreads) {
    const unsigned point = task.list.points[i];
    const float x = static_cast<float>(point_x(point)), y = static_cast<float>(point_y(point));
    if constexpr (kGradient) {
      const AngleIntervals near = task.intervals[task.list.directions[i]];
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

// Appends the peaks of a group to the list. The votes are read through L2, because other blocks wrote them.
__device__ inline void find_peaks(const VoteTask &task, int group) {
  const Accumulator &accumulator = task.accumulator;
  const int first = group * task.grid.group_angles,
            last = min(first + task.grid.group_angles, accumulator.angle_count);
  const int quads_per_row = accumulator.stride / 4, quads = (last - first) * quads_per_row;
  const auto load = [&accumulator](std::ptrdiff_t offset) { return __ldcg(accumulator.votes + offset); };
  const uint4 *cells = reinterpret_cast<const uint4 *>(accumulator.votes + accumulator.row(first));
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < quads; i += kVoteThreads) {
    const uint4 four = __ldcg(cells + i);
    if (max(max(four.x, four.y), max(four.z, four.w)) <= task.threshold) continue;
    const int n = first + i / quads_per_row, column = i % quads_per_row * 4;
    for (int k = 0; k < 4; ++k) {
      const unsigned votes = k == 0 ? four.x : k == 1 ? four.y : k == 2 ? four.z : four.w;
      const int distance = accumulator.angles[n].first + column + k;
      if (votes <= task.threshold || !is_peak(accumulator, n, distance, votes, task.nms_radius, load))
        continue;
      task.keys[atomicAdd(&task.counters->peaks, 1u)] = key_of(accumulator, n, distance, votes);
    }
  }
}

// Extracts the peaks of each group for which this block is the last one to update its neighbourhood.
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
  const Accumulator &accumulator = task.accumulator;
  const int thread = static_cast<int>(threadIdx.x),
            first = static_cast<int>(blockIdx.x) * task.grid.group_angles;
  const int count = max(min(task.grid.group_angles, accumulator.angle_count - first), 0),
            cells = count * accumulator.stride;
  std::uint32_t *total = accumulator.votes + accumulator.row(first),
                *own = reinterpret_cast<std::uint32_t *>(shared);
  if (thread < count) {
    const Angle angle = accumulator.angles[first + thread];
    angles.scaled_cos[thread] = angle.scaled_cos;
    angles.scaled_sin[thread] = angle.scaled_sin;
    angles.bias[thread] = kRoundingBits + angle.first - thread * accumulator.stride;
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
  for (int i = thread; i < listed; i += kVoteThreads)
    task.list_out.lines[i] = line_of(accumulator, task.keys[i]);
  if (thread == 0) *task.list_out.count = {listed, peaks, peaks};
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
