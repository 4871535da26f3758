// SPDX-License-Identifier: LGPL-2.1-or-later
// Helpers for the second argument of __launch_bounds__: the minimum number of resident blocks per multiprocessor.
#pragma once

namespace cudavision {

// The maximum number of threads that are resident on a multiprocessor of the architecture that is being compiled for
// (CUDA C++ Programming Guide, appendix "Compute Capabilities").
#if !defined(__CUDA_ARCH__)
constexpr int kResidentThreads = 2048;
#elif __CUDA_ARCH__ < 800
constexpr int kResidentThreads = 1024;
#elif __CUDA_ARCH__ == 800 || __CUDA_ARCH__ / 100 == 9 || __CUDA_ARCH__ / 100 == 10
constexpr int kResidentThreads = 2048;
#else
constexpr int kResidentThreads = 1536;
#endif

// Whether the code is compiled for Hopper (9.x) or for the host. On all other architectures the compiler spills
// registers with some launch bounds, so kernels choose different ones.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ / 100 != 9
constexpr bool kCompilesForHopper = false;
#else
constexpr bool kCompilesForHopper = true;
#endif

// Whether the code is compiled for compute capability 10.0 or newer, for which the compiler spills registers with
// launch bounds that cause no spills on older architectures. Kernels then choose other bounds, or unroll loops less.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr bool kSpillsSooner = true;
#else
constexpr bool kSpillsSooner = false;
#endif

// `blocks`, or fewer if a multiprocessor cannot hold so many blocks of `threads` threads, because nvcc refuses more.
constexpr int resident_blocks(int threads, int blocks) {
  return blocks * threads <= kResidentThreads ? blocks : kResidentThreads / threads;
}

}  // namespace cudavision
