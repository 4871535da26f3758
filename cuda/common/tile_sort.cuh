// SPDX-License-Identifier: LGPL-2.1-or-later
// Sorts a list of distinct keys with many blocks, in two kernels: each block sorts tiles of the list
// (sort_tiles), and then each thread finds the place of a key, which is the number of smaller keys in all tiles
// (place_of_key). The host need not know how long the list is.
//
// A tile is sorted by a bitonic sorting network (K. Batcher, "Sorting Networks and Their Applications", AFIPS 1968),
// padded with the largest key. The length of a tile is a compile-time constant, which saves bounds checks and
// divisions. Most steps of the network stay within a warp, which needs no barrier of the block.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

namespace cudavision {

using SortKey = unsigned long long;

constexpr int kTileThreads = 512;
// Short lists are sorted in small tiles, so that many blocks have work; long lists in large tiles, because each key is
// searched in every tile.
constexpr int kSmallTile = 1024, kLargeTile = 4096, kTilesOfShortList = 16;

// Calls work() with the tile size for a list of `count` keys, as a std::integral_constant.
template <typename Work>
__device__ void with_tile_size(int count, const Work &work) {
  if (count <= kTilesOfShortList * kSmallTile)
    work(std::integral_constant<int, kSmallTile>());
  else
    work(std::integral_constant<int, kLargeTile>());
}

// One step of the network: in each group of 2 * half keys, compares and exchanges key i of the first half with key
// i of the second half, counted from the end of that half if kMirrored. half: a power of two. Threads 32 i to 32 i
// + 31 compare keys of the same 64 neighbours if half is at most 32.
template <int kTile, bool kMirrored>
__device__ void compare_halves_of_tile(SortKey *tile, int half) {
#pragma unroll
  for (int k = 0; k < kTile / 2 / kTileThreads; ++k) {
    const int p = static_cast<int>(threadIdx.x) + k * kTileThreads;
    const int i = p & (half - 1), begin = 2 * (p - i);
    const int a = begin + i, b = begin + (kMirrored ? 2 * half - 1 - i : half + i);
    const SortKey first = tile[a], second = tile[b];
    if (second < first) tile[a] = second, tile[b] = first;
  }
  if (half > 32)
    __syncthreads();
  else
    __syncwarp();
}

template <int kTile>
__device__ void sort_tile(SortKey *keys, int length, SortKey *tile) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < kTile; i += kTileThreads) tile[i] = i < length ? keys[i] : ~SortKey{0};
  __syncthreads();
  for (int half = 1; half < kTile; half *= 2) {
    compare_halves_of_tile<kTile, true>(tile, half);
    for (int h = half / 2; h > 0; h /= 2) compare_halves_of_tile<kTile, false>(tile, h);
    if (half >= 32) __syncthreads();  // the next step compares keys of several warps
  }
  for (int i = thread; i < length; i += kTileThreads) keys[i] = tile[i];
  __syncthreads();
}

// Sorts this block's share of the tiles, each on its own. tile: shared memory for kLargeTile keys. All kTileThreads
// threads of the block must call. Contains barriers.
__device__ inline void sort_tiles(SortKey *keys, int count, SortKey *tile) {
  with_tile_size(count, [&](auto size) {
    constexpr int kTile = decltype(size)::value;
    for (int begin = static_cast<int>(blockIdx.x) * kTile; begin < count;
         begin += static_cast<int>(gridDim.x) * kTile)
      sort_tile<kTile>(keys + begin, min(kTile, count - begin), tile);
  });
}

// The number of keys in a sorted tile of this length that are smaller than `key`.
template <int kTile>
__device__ int smaller_in_tile(const SortKey *tile, int length, SortKey key) {
  int smaller = 0;
#pragma unroll
  for (int step = kTile; step > 0; step /= 2)
    if (smaller + step <= length && tile[smaller + step - 1] < key) smaller += step;
  return smaller;
}

// The place of the calling thread's key in the sorted list, or some number of at least `most` if it is not among the
// first `most`. keys: the sorted tiles of the list. tile: shared memory for kLargeTile keys. All kTileThreads threads
// of the block must call, also those without a key. Contains barriers, the last one after the last read of `tile`.
__device__ inline int place_of_key(const SortKey *keys, int count, int most, SortKey key, SortKey *tile) {
  int place = 0;
  with_tile_size(count, [&](auto size) {
    constexpr int kTile = decltype(size)::value, kPerThread = kTile / kTileThreads;
    const int thread = static_cast<int>(threadIdx.x);
    SortKey next[kPerThread] = {};  // of the next tile, loaded while the current one is searched
    const auto load = [&](int begin) {
#pragma unroll
      for (int k = 0; k < kPerThread; ++k)
        if (const int i = begin + thread + k * kTileThreads; i < count) next[k] = keys[i];
    };
    load(0);
    for (int begin = 0; begin < count; begin += kTile) {
#pragma unroll
      for (int k = 0; k < kPerThread; ++k) tile[thread + k * kTileThreads] = next[k];
      __syncthreads();
      load(begin + kTile);
      place += smaller_in_tile<kTile>(tile, min(kTile, count - begin), key);
      if (__syncthreads_and(place >= most)) break;
    }
  });
  return place;
}

// Calls use(place, key) for each key of this block's share whose place is less than `most`. Parameters and requirements
// as for place_of_key().
template <typename Use>
__device__ void for_each_place(const SortKey *keys, int count, int most, SortKey *tile, const Use &use) {
  const int stride = static_cast<int>(gridDim.x) * kTileThreads;
  for (int base = static_cast<int>(blockIdx.x) * kTileThreads; base < count; base += stride) {
    const int i = base + static_cast<int>(threadIdx.x);
    const SortKey key = i < count ? keys[i] : ~SortKey{0};
    const int place = place_of_key(keys, count, most, key, tile);
    if (i < count && place < most) use(place, key);
  }
}

}  // namespace cudavision
