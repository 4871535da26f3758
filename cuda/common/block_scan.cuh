// SPDX-License-Identifier: LGPL-2.1-or-later
// Sums over the threads of a block.
#pragma once

#include "cuda/common/warp.cuh"

namespace cudavision {

// The sum of value over the threads before this one, and over all of them. warp_sums: shared memory for
// kThreads / 32 + 1 numbers, of these calls alone, which may follow each other without a barrier. All kThreads
// threads of the block call; two barriers inside.
template <int kThreads>
__device__ inline int block_exclusive_sum(int value, int *warp_sums, int *total) {
  constexpr int kWarps = kThreads / 32;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int up_to_here = warp_inclusive_sum(value, lane);
  __syncwarp();  // all lanes have read their warp's number of the call before; others' are read between barriers
  if (lane == 31) warp_sums[warp] = up_to_here;
  __syncthreads();
  if (thread == 0) {
    int sum = 0;
    for (int w = 0; w < kWarps; ++w) {
      const int own = warp_sums[w];
      warp_sums[w] = sum;
      sum += own;
    }
    warp_sums[kWarps] = sum;
  }
  __syncthreads();
  *total = warp_sums[kWarps];
  return warp_sums[warp] + up_to_here - value;
}

}  // namespace cudavision
