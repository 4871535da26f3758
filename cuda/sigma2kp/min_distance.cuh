// SPDX-License-Identifier: LGPL-2.1-or-later
// Applies min_distance: one thread per keypoint searches for a stronger keypoint near it; the last block
// lists the keypoints that are kept.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/launch_cuda.h"
#include "cuda/common/static_shared.cuh"
#include "cuda/sigma2kp/keypoint_list.cuh"

namespace cudavision::sigma2kp {

struct MinDistanceTask {
  AllKeypoints all;
  std::uint8_t *kept;  // for each keypoint: 1 if it is kept, otherwise 0
  Progress *progress;
  int map_height, min_distance, max_keypoints;
  bool wide;
  Sigma2KpList list;
};

// The first index in [begin, end) whose keypoint has a column of at least x, or end. The keypoints in [begin,
// end) must lie in one row.
__device__ inline int lower_bound_x(const std::uint32_t *places, int begin, int end, int x) {
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;
    if (static_cast<int>(places[middle] & 0xffff) < x)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

__device__ inline bool has_stronger_neighbor(const MinDistanceTask &task, int i) {
  const int x = static_cast<int>(task.all.places[i] & 0xffff), y = static_cast<int>(task.all.places[i] >> 16);
  const std::uint64_t strength = task.all.strengths[i];
  const int distance = task.min_distance;
  for (int row = max(y - distance, 0); row <= min(y + distance, task.map_height - 1); ++row) {
    const int begin = static_cast<int>(task.all.row_begins[row]);
    const int end = static_cast<int>(task.all.row_begins[row + 1]);
    for (int other = lower_bound_x(task.all.places, begin, end, x - distance); other < end; ++other) {
      const int dx = static_cast<int>(task.all.places[other] & 0xffff) - x, dy = row - y;
      if (dx > distance) break;
      if (dx * dx + dy * dy < distance * distance &&
          is_stronger(task.all.strengths[other], other, strength, i))
        return true;
    }
  }
  return false;
}

// Moves the kept keypoints to the front of the list and returns their number. All threads of the block must
// call.
__device__ inline int compact(const MinDistanceTask &task, int count, int *warp_sums) {
  int kept_before = 0;
  for (int base = 0; base < count; base += kThreads) {
    const int i = base + static_cast<int>(threadIdx.x);
    const bool keeps = i < count && __ldcg(&task.kept[i]) != 0;
    const std::uint64_t strength = keeps ? task.all.strengths[i] : 0;
    const std::uint32_t place = keeps ? task.all.places[i] : 0;
    int total = 0;
    // The barriers in this call also separate the reads above from the writes below, which never go beyond
    // `base` plus the size of the block.
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

static __global__ void __launch_bounds__(kThreads)
    keep_apart_kernel(const __grid_constant__ MinDistanceTask task) {
  CUDAVISION_SHARED(Selection, block);
  CUDAVISION_SHARED(bool, is_last);
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int count = static_cast<int>(task.progress->found), stride = static_cast<int>(gridDim.x) * kThreads;
  for (int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x); i < count;
       i += stride)
    task.kept[i] = has_stronger_neighbor(task, i) ? 0 : 1;
  if (!is_last_block(&task.progress->min_distance_done, gridDim.x, &is_last)) return;
  const int kept = compact(task, count, block.warp_sums);
  if (kept > task.max_keypoints)
    list_strongest(block, task.all, kept, task.max_keypoints, task.wide, task.list.keypoints);
  else
    for (int i = static_cast<int>(threadIdx.x); i < kept; i += kThreads)
      task.list.keypoints[i] = keypoint_of(__ldcg(&task.all.strengths[i]), __ldcg(&task.all.places[i]));
  if (threadIdx.x == 0) {
    *task.list.count = {min(kept, task.max_keypoints), kept};
    task.progress->min_distance_done = 0;
  }
}

}  // namespace cudavision::sigma2kp
