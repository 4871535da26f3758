// SPDX-License-Identifier: LGPL-2.1-or-later
// A group of adjacent warps of a block that work together and have a barrier of their own.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/host_device.h"

namespace cudavision {

// Returns its argument, but hides its value from the compiler. Otherwise the compiler moves arithmetic that only some
// warps need to code that all warps of the block execute.
CUDAVISION_HOST_DEVICE inline int hidden(int value) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(value));
#endif
  return value;
}

// kFirst: the index of the first warp. kCount: the number of warps. kBarrier: the number of their hardware barrier, 1
// to 15, which no other warps of the block use.
template <int kFirst, int kCount, int kBarrier>
struct WarpsOfBlock {
  static constexpr int kWarps = kCount, kThreads = 32 * kCount;

  __device__ static bool hold_this_thread() {
    const int thread = own_thread();
    return thread >= 0 && thread < kThreads;
  }
  // The index of the calling thread within these warps. Not in [0, kThreads) if the thread belongs to another warp.
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
