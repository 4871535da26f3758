// SPDX-License-Identifier: LGPL-2.1-or-later
// What the 32 threads of a warp do together. Every lane must call; every mask is the full one.
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

constexpr unsigned kFullWarp = 0xffffffffu;

// The sum of value over lanes 0 to this one.
__device__ inline int warp_inclusive_sum(int value, int lane) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const int before = __shfl_up_sync(kFullWarp, value, static_cast<unsigned>(distance));
    if (lane >= distance) value += before;
  }
  return value;
}

// The sum of value over all lanes, in every lane; or over each group of so many neighbours, a power of two.
template <typename T>
__device__ inline T warp_sum(T value, int lanes = 32) {
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(kFullWarp, value, distance);
  return value;
}

// The largest value of all lanes, in every lane.
template <typename T>
__device__ inline T warp_max(T value) {
  for (int distance = 16; distance > 0; distance /= 2) {
    const T other = __shfl_xor_sync(kFullWarp, value, distance);
    value = other > value ? other : value;
  }
  return value;
}

}  // namespace cudavision
