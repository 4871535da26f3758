// SPDX-License-Identifier: LGPL-2.1-or-later
// Asynchronous copies to shared memory, which a thread begins and waits for later (CUDA C++ Programming Guide,
// "Asynchronous Data Copies"). Before compute capability 8.0 the copies are synchronous.
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

// Begins to copy 16 bytes from global to shared memory. Bypasses L1.
__device__ inline void begin_copy(uint4 *shared, const uint4 *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(__cvta_generic_to_global(from))
               : "memory");
#else
  *shared = __ldcg(from);
#endif
}

// begin_copy() for pinned host memory. Bypasses L1, which could hold an old value for as long as the kernel runs.
// Before compute capability 8.0, only the first of the four words is copied.
__device__ inline void begin_copy_from_host(uint4 *shared, const uint4 *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  begin_copy(shared, from);
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
