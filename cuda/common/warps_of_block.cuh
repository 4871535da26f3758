// SPDX-License-Identifier: LGPL-2.1-or-later
// Some adjacent warps of a block, which work together and wait only for one another.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/host_device.h"

namespace cudavision {

// Returns its argument, of which the compiler then knows nothing. What is computed from the result stays where it is
// written; otherwise, the compiler moves arithmetic that only some warps need to where all warps of the block do it.
CUDAVISION_HOST_DEVICE inline int hidden(int value) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(value));
#endif
  return value;
}

// kFirst: the first warp. kCount: their number. kBarrier: the number of their barrier, 1 to 15, which no other warps
// use.
template <int kFirst, int kCount, int kBarrier>
struct WarpsOfBlock {
  static constexpr int kWarps = kCount, kThreads = 32 * kCount;

  __device__ static bool hold_this_thread() {
    const int thread = own_thread();
    return thread >= 0 && thread < kThreads;
  }
  // The number of the calling thread, which is one of them.
  __device__ static int own_thread() { return hidden(static_cast<int>(threadIdx.x) - 32 * kFirst); }

  // As __syncthreads(), but for these warps only. All of their threads must call.
  __device__ static void synchronize() {
#ifdef CUDAVISION_EMULATED_CUDA
    simt::part_barrier(kBarrier, kThreads);
#else
    asm volatile("barrier.sync %0, %1;" ::"n"(kBarrier), "n"(kThreads) : "memory");
#endif
  }
};

}  // namespace cudavision
