// SPDX-License-Identifier: LGPL-2.1-or-later
// The smallest of one value per block, for all blocks of a cooperative launch (CUDAVISION_LAUNCH_COOPERATIVE).
//
// Each block stores its value with the number of the round in the same word, and reads the words of all blocks until
// they show that round. So a round takes one store and about one load of L2, where an atomic minimum, a grid barrier
// (grid_barrier.cuh) and a load of the result take four such latencies one after the other. Nothing but the value is
// handed over: writes to other memory are not ordered by it.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/acquire_release.cuh"
#include "cuda/common/warp.cuh"

namespace cudavision {

class GridMinimum {
 public:
  // Values are below 2^kBits.
  static constexpr int kBits = 54;

  // The number of words that it needs, all 0 when the kernel starts.
  static constexpr int words(int blocks) { return 2 * static_cast<int>(kCopies) * blocks; }

  // Every thread of every block constructs one. words: in global memory.
  __device__ explicit GridMinimum(unsigned long long *words) : words_(words) {}

  // Begins a round with the value of this block. A warp of the block calls it, all of whose threads have that value,
  // and does not wait.
  __device__ void publish(unsigned long long value) {
    const unsigned copy = threadIdx.x % 32;
    if (copy < kCopies) relaxed_store(words_of(copy) + blockIdx.x, tag() | value);
  }

  // Returns the smallest value of the round. Every thread of every block must call; the first warp of a block waits for
  // the words of the others. result: in shared memory; no thread uses it before the next barrier of the block.
  // Synchronises the block.
  __device__ unsigned long long collect(unsigned long long *result) {
    if (threadIdx.x < 32) {
      const unsigned long long least = warp_min(least_of_lane());
      if (threadIdx.x == 0) *result = least & kMask;
    }
    __syncthreads();
    next_round();
    return *result;
  }

 private:
  // The smallest word of the blocks that this lane looks at.
  __device__ unsigned long long least_of_lane() const {
    constexpr unsigned kAtOnce = 5;  // loads that do not wait for one another: enough for 160 blocks
    const unsigned long long round_tag = tag();
    const auto is_old = [round_tag](unsigned long long word) { return ((word ^ round_tag) & ~kMask) != 0; };
    unsigned long long least = round_tag | kMask;
#pragma unroll 1
    for (unsigned first = threadIdx.x; first < gridDim.x; first += 32 * kAtOnce) {
      const unsigned long long *const words = words_of(blockIdx.x % kCopies) + first;
      unsigned missing = 0;  // a bit for each word that has not come
#pragma unroll
      for (unsigned k = 0; k < kAtOnce; ++k) missing |= (first + 32 * k < gridDim.x ? 1u : 0u) << k;
      do {
        unsigned long long word[kAtOnce];
#pragma unroll
        for (unsigned k = 0; k < kAtOnce; ++k)
          word[k] = (missing >> k & 1) != 0 ? relaxed_load(words + 32 * k) : 0;
#pragma unroll
        for (unsigned k = 0; k < kAtOnce; ++k) {
          if (is_old(word[k])) continue;
          least = word[k] < least ? word[k] : least;
          missing &= ~(1u << k);
        }
      } while (missing != 0);
    }
    return least;
  }

  // So many copies of the words share the load of all blocks, which ask for them at the same time.
  static constexpr unsigned kCopies = 32;

  static constexpr unsigned long long kMask = (1ull << kBits) - 1;
  // Tags count from 2 to the largest one, and again: so they are even and odd by turns, and never 0.
  static constexpr unsigned kTagUnit = 1u << (kBits - 32), kFirstTag = 2 * kTagUnit;

  // A block begins the next round only when it has seen all words of this one, so blocks are at most one round apart:
  // two sets of words suffice, and the tag tells a word from the older one in its place.
  __device__ void next_round() {
    high_tag_ += kTagUnit;
    if (high_tag_ == 0) high_tag_ = kFirstTag;
  }
  // Stands above the value in each word of this round; not 0, which words have when the kernel starts.
  __device__ unsigned long long tag() const { return static_cast<unsigned long long>(high_tag_) << 32; }
  __device__ unsigned long long *words_of(unsigned copy) const {
    return words_ + (high_tag_ / kTagUnit % 2 * kCopies + copy) * gridDim.x;
  }

  unsigned long long *words_;
  // The high half of tag().
  unsigned high_tag_ = kFirstTag;
};

}  // namespace cudavision
