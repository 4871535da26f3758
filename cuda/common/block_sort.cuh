// SPDX-License-Identifier: LGPL-2.1-or-later
// Sorts a list with one thread block by a bitonic sorting network: K. Batcher, "Sorting Networks and Their
// Applications", AFIPS 1968. All comparators put the smaller key first, so a list of any length is sorted as
// if it were padded with larger keys.
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

using SortKey = unsigned long long;

// One step of the network: in each group of 2 * half keys, compares and exchanges key i of the first half
// with key i of the second half, counted from the end of that half if kMirrored. half: a power of two.
template <int kThreads, bool kMirrored>
__device__ void compare_halves(SortKey *keys, int count, int half) {
  const int last_group = (count - 1) / (2 * half) * (2 * half);
  const int pairs = last_group / 2 + min(half, count - last_group);
  for (int p = static_cast<int>(threadIdx.x); p < pairs; p += kThreads) {
    const int i = p & (half - 1), begin = 2 * (p - i);
    const int a = begin + i, b = begin + (kMirrored ? 2 * half - 1 - i : half + i);
    if (b >= count) continue;
    const SortKey first = keys[a], second = keys[b];
    if (second < first) keys[a] = second, keys[b] = first;
  }
  __syncthreads();
}

// Copies each group of `capacity` keys (the last one may be shorter) to cache, calls work(length), and copies
// the group back.
template <int kThreads, typename Work>
__device__ void for_each_cached(SortKey *keys, int count, SortKey *cache, int capacity, const Work &work) {
  for (int begin = 0; begin < count; begin += capacity) {
    const int length = min(capacity, count - begin);
    for (int i = static_cast<int>(threadIdx.x); i < length; i += kThreads) cache[i] = keys[begin + i];
    __syncthreads();
    work(length);
    for (int i = static_cast<int>(threadIdx.x); i < length; i += kThreads) keys[begin + i] = cache[i];
    __syncthreads();
  }
}

// Sorts keys[0, count) in global memory in ascending order. cache: shared memory for `capacity` keys;
// capacity is a power of two. A list that fits into the cache is read and written once. All kThreads threads
// of the block must call. Contains barriers, the last one after the last write.
template <int kThreads>
__device__ void sort_keys(SortKey *keys, int count, SortKey *cache, int capacity) {
  for_each_cached<kThreads>(keys, count, cache, capacity, [&](int length) {
    for (int half = 1; half < length; half *= 2) {
      compare_halves<kThreads, true>(cache, length, half);
      for (int h = half / 2; h > 0; h /= 2) compare_halves<kThreads, false>(cache, length, h);
    }
  });
  for (int half = capacity; half < count; half *= 2) {
    compare_halves<kThreads, true>(keys, count, half);
    for (int h = half / 2; h >= capacity; h /= 2) compare_halves<kThreads, false>(keys, count, h);
    for_each_cached<kThreads>(keys, count, cache, capacity, [&](int length) {
      for (int h = capacity / 2; h > 0; h /= 2) compare_halves<kThreads, false>(cache, length, h);
    });
  }
}

}  // namespace cudavision
