// SPDX-License-Identifier: LGPL-2.1-or-later
// Thins a list by distance: a thread for each keypoint looks for one near it that outdoes it; the last block
// lists what is left.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/launch.h"
#include "cuda/sigma2kp/collect.cuh"

namespace cudavision::sigma2kp {

struct ApartTask {
  AllKeypoints all;
  std::uint8_t *kept;  // of each keypoint
  Progress *progress;
  int map_height, min_distance, max_keypoints;
  bool wide;
  Sigma2List list;
};

// The first index in [begin, end) whose keypoint, all of one row, does not lie left of x.
__device__ inline int first_from(const std::uint32_t *places, int begin, int end, int x) {
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;
    if (static_cast<int>(places[middle] & 0xffff) < x)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

__device__ inline bool is_outdone(const ApartTask &task, int i) {
  const int x = static_cast<int>(task.all.places[i] & 0xffff), y = static_cast<int>(task.all.places[i] >> 16);
  const std::uint64_t strength = task.all.strengths[i];
  const int distance = task.min_distance;
  for (int row = max(y - distance, 0); row <= min(y + distance, task.map_height - 1); ++row) {
    const int begin = static_cast<int>(task.all.row_begins[row]);
    const int end = static_cast<int>(task.all.row_begins[row + 1]);
    for (int other = first_from(task.all.places, begin, end, x - distance); other < end; ++other) {
      const int dx = static_cast<int>(task.all.places[other] & 0xffff) - x, dy = row - y;
      if (dx > distance) break;
      if (dx * dx + dy * dy < distance * distance && outdoes(task.all.strengths[other], other, strength, i))
        return true;
    }
  }
  return false;
}

// Moves what is kept to the front; returns how many there are. Every thread of the block calls.
__device__ inline int compact(const ApartTask &task, int count, int *warp_sums) {
  int kept_before = 0;
  for (int base = 0; base < count; base += kThreads) {
    const int i = base + static_cast<int>(threadIdx.x);
    const bool keeps = i < count && __ldcg(&task.kept[i]) != 0;
    const std::uint64_t strength = keeps ? task.all.strengths[i] : 0;
    const std::uint32_t place = keeps ? task.all.places[i] : 0;
    int total = 0;
    // Its barriers also keep reads before writes, which never overtake them.
    const int before = block_exclusive_sum<kThreads>(keeps ? 1 : 0, warp_sums, &total);
    if (keeps) {
      task.all.strengths[kept_before + before] = strength;
      task.all.places[kept_before + before] = place;
    }
    kept_before += total;
  }
  __syncthreads();
  return kept_before;
}

static __global__ void __launch_bounds__(kThreads) keep_apart_kernel(const __grid_constant__ ApartTask task) {
  __shared__ Selection block;
  __shared__ bool is_last;
  wait_for_kernel_ahead();
  const int count = static_cast<int>(task.progress->found), stride = static_cast<int>(gridDim.x) * kThreads;
  for (int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x); i < count;
       i += stride)
    task.kept[i] = is_outdone(task, i) ? 0 : 1;
  if (!is_last_block(&task.progress->apart_done, gridDim.x, &is_last)) return;
  const int kept = compact(task, count, block.warp_sums);
  if (kept > task.max_keypoints)
    list_strongest(block, task.all, kept, task.max_keypoints, task.wide, task.list.keypoints);
  else
    for (int i = static_cast<int>(threadIdx.x); i < kept; i += kThreads)
      task.list.keypoints[i] = keypoint_of(__ldcg(&task.all.strengths[i]), __ldcg(&task.all.places[i]));
  if (threadIdx.x == 0) {
    *task.list.count = {min(kept, task.max_keypoints), kept};
    task.progress->apart_done = 0;
  }
}

}  // namespace cudavision::sigma2kp
