// SPDX-License-Identifier: LGPL-2.1-or-later
// Dot products of two numbers each in one instruction (dp2a): the signed 16-bit halves of `a` and two of the four
// unsigned bytes of `b`. CUDA's intrinsics for dp2a take only operands of equal signedness.
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

// Returns sum + low half of a * byte 0 of b + high half of a * byte 1 of b.
__device__ inline int dot_of_low_bytes(unsigned a, unsigned b, int sum) {
#ifdef __CUDA_ARCH__
  int result;
  asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
#else
  return sum + static_cast<short>(a & 0xffffu) * static_cast<int>(b & 0xffu) +
         static_cast<short>(a >> 16) * static_cast<int>(b >> 8 & 0xffu);
#endif
}

// Returns sum + low half of a * byte 2 of b + high half of a * byte 3 of b.
__device__ inline int dot_of_high_bytes(unsigned a, unsigned b, int sum) {
#ifdef __CUDA_ARCH__
  int result;
  asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
#else
  return dot_of_low_bytes(a, b >> 16, sum);
#endif
}

}  // namespace cudavision
