// SPDX-License-Identifier: LGPL-2.1-or-later
// A copy to shared memory that a thread does not wait for when it begins it (CUDA C++ Programming Guide, "Asynchronous
// Data Copies").
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

// Copies 16 bytes of global memory. It bypasses L1.
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

// The same for pinned host memory, of which L1 could hold an old value for as long as the kernel runs. Without
// asynchronous copies, only the first of the four words is copied.
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
