// SPDX-License-Identifier: LGPL-2.1-or-later
// The second argument of __launch_bounds__.
#pragma once

namespace cudavision {

// The threads that a multiprocessor holds, on the architecture that is being compiled for (CUDA C++ Programming Guide,
// appendix "Compute Capabilities").
#if !defined(__CUDA_ARCH__)
constexpr int kResidentThreads = 2048;
#elif __CUDA_ARCH__ < 800
constexpr int kResidentThreads = 1024;
#elif __CUDA_ARCH__ == 800 || __CUDA_ARCH__ / 100 == 9 || __CUDA_ARCH__ / 100 == 10
constexpr int kResidentThreads = 2048;
#else
constexpr int kResidentThreads = 1536;
#endif

// With some launch bounds the compiler spills registers on every architecture but 9.x, Hopper; kernels choose
// others there.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ / 100 != 9
constexpr bool kCompilesForHopper = false;
#else
constexpr bool kCompilesForHopper = true;
#endif

// From compute capability 10.0 on, the compiler spills registers with launch bounds with which it does not on older
// architectures; there, kernels choose others, or unroll their loops less.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr bool kSpillsSooner = true;
#else
constexpr bool kSpillsSooner = false;
#endif

// `blocks` blocks of `threads` threads, or as many of them as a multiprocessor holds: nvcc refuses more.
constexpr int resident_blocks(int threads, int blocks) {
  return blocks * threads <= kResidentThreads ? blocks : kResidentThreads / threads;
}

}  // namespace cudavision
