// SPDX-License-Identifier: LGPL-2.1-or-later
// Prefix sums (scans) over the threads of a block.
#pragma once

#include "cuda/common/warp.cuh"

namespace cudavision {

// Exclusive prefix sum: returns the sum of value over the threads before this one; *total becomes the sum
// over all threads. warp_sums: shared memory for kThreads / 32 ints, used by nothing else; consecutive
// calls need no barrier between them. All kThreads threads of the block must call. Contains two barriers.
template <int kThreads>
__device__ inline int block_exclusive_sum(int value, int *warp_sums, int *total) {
  constexpr int kWarps = kThreads / 32;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int up_to_here = warp_inclusive_sum(value, lane);
  if (lane == 31) warp_sums[warp] = up_to_here;
  __syncthreads();
  int sum = 0, before = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {  // every thread adds up all warp sums: the loads overlap
    const int own = warp_sums[w];
    if (w < warp) before += own;
    sum += own;
  }
  __syncthreads();
  *total = sum;
  return before + up_to_here - value;
}

}  // namespace cudavision
