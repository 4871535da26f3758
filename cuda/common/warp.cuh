// SPDX-License-Identifier: LGPL-2.1-or-later
// Warp-level reductions and scans. All 32 lanes of the warp must call.
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

constexpr unsigned kFullWarp = 0xffffffffu;

// Inclusive prefix sum: the sum of value over lanes 0 to `lane`, which must be the caller's lane.
__device__ inline int warp_inclusive_sum(int value, int lane) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const int before = __shfl_up_sync(kFullWarp, value, static_cast<unsigned>(distance));
    if (lane >= distance) value += before;
  }
  return value;
}

// The position of the n-th set bit of `bits`, where n counts from 0. The bit must exist. bits: the same in all lanes.
__device__ inline int warp_nth_bit(unsigned bits, int n) {
  const unsigned own = 1u << (threadIdx.x % 32);
  return __ffs(
             static_cast<int>(__ballot_sync(kFullWarp, (bits & own) != 0 && __popc(bits & (own - 1)) == n))) -
         1;
}

// Returns to every lane the sum of value over its group of `lanes` adjacent lanes; lanes: a power of two, at
// most 32.
template <typename T>
__device__ inline T warp_sum(T value, int lanes = 32) {
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(kFullWarp, value, distance);
  return value;
}

// Returns the sum over all 32 lanes to every lane, in one instruction where the device has it.
__device__ inline int warp_sum(int value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kFullWarp, value);
#else
  return warp_sum(value, 32);
#endif
}
// Returns the sum over all 32 lanes in 64 bits to every lane.
__device__ inline long long warp_sum_wide(int value) {
  return static_cast<long long>(warp_sum(value >> 16)) * 65536 + warp_sum(value & 0xffff);
}

// Returns to every lane the largest value of its group of `lanes` adjacent lanes; lanes: a power of two, at most 32.
template <typename T>
__device__ inline T warp_max(T value, int lanes = 32) {
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    const T other = __shfl_xor_sync(kFullWarp, value, distance);
    value = other > value ? other : value;
  }
  return value;
}

// Returns the largest value of all 32 lanes to every lane, in two instructions where the device has them.
__device__ inline unsigned long long warp_max(unsigned long long value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto high = static_cast<unsigned>(value >> 32);
  const unsigned highest = __reduce_max_sync(kFullWarp, high);
  const unsigned low = __reduce_max_sync(kFullWarp, high == highest ? static_cast<unsigned>(value) : 0u);
  return static_cast<unsigned long long>(highest) << 32 | low;
#else
  return warp_max(value, 32);
#endif
}

// Returns the smallest value of all lanes to every lane.
__device__ inline unsigned long long warp_min(unsigned long long value) { return ~warp_max(~value); }

}  // namespace cudavision
