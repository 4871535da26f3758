// SPDX-License-Identifier: LGPL-2.1-or-later
// A copy to shared memory that a thread does not wait for when it begins it (CUDA C++ Programming Guide, "Asynchronous
// Data Copies").
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

// Copies 16 bytes from global memory or pinned host memory. It bypasses L1, which could hold an old value of the host's
// memory for as long as the kernel runs.
__device__ inline void begin_copy(uint4 *shared, const uint4 *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(__cvta_generic_to_global(from))
               : "memory");
#else
  shared->x = *const_cast<const volatile unsigned *>(&from->x);
#endif
}

// Waits for the copies that this thread has begun.
__device__ inline void end_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace cudavision
