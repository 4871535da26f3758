// SPDX-License-Identifier: LGPL-2.1-or-later
// The smallest of one value per block, for all blocks of a cooperative launch (CUDAVISION_LAUNCH_COOPERATIVE).
//
// Each block stores its value with the number of the round in the same word, and reads the words of all blocks until
// they show that round. So a round takes one store and about one load of L2, where an atomic minimum, a grid barrier
// (grid_barrier.cuh) and a load of the result take four such latencies one after the other. Nothing but the value is
// handed over: writes to other memory are not ordered by it.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/warp.cuh"

namespace cudavision {

class GridMinimum {
 public:
  // Values are below 2^kBits.
  static constexpr int kBits = 54;

  // The number of words that it needs, all 0 when the kernel starts.
  static constexpr int words(int blocks) { return 2 * blocks; }

  // Every thread of every block constructs one. words: in global memory.
  __device__ explicit GridMinimum(unsigned long long *words) : words_(words) {}

  // Begins a round with the value of this block. One thread of the block calls it, and does not wait.
  __device__ void publish(unsigned long long value) {
    store(round_words() + blockIdx.x, tag() << kBits | value);
  }

  // Returns the smallest value of the round. Every thread of every block must call; the first warp of a block waits for
  // the words of the others. result: in shared memory; no thread uses it before the next barrier of the block. Synchronises
  // the block, by synchronize(): a kernel whose warps come here on different paths must give a barrier that allows it.
  template <typename Synchronize>
  __device__ unsigned long long collect(unsigned long long *result, const Synchronize &synchronize) {
#ifdef CUDAVISION_EMULATED_CUDA
    simt::grid_barrier();
#endif
    if (threadIdx.x < 32) {
      const unsigned long long least = warp_min(least_of_lane());
      if (threadIdx.x == 0) *result = least;
    }
    synchronize();
    ++round_;
    return *result;
  }

 private:
  // The smallest value of the blocks whose words this lane looks at.
  __device__ unsigned long long least_of_lane() const {
#ifdef CUDAVISION_EMULATED_CUDA
    constexpr bool kWaits = false;  // all words are there: a wrong one fails a test instead of hanging it
#else
    constexpr bool kWaits = true;
#endif
    constexpr unsigned kAtOnce = 5;  // loads that do not wait for one another: enough for 160 blocks
    unsigned long long least = kMask;
#pragma unroll 1
    for (unsigned first = threadIdx.x; first < gridDim.x; first += 32 * kAtOnce) {
      unsigned long long word[kAtOnce];
      bool complete = true;
      do {
        complete = true;
#pragma unroll
        for (unsigned k = 0; k < kAtOnce; ++k) {
          const unsigned block = first + 32 * k;
          word[k] = load(round_words() + (block < gridDim.x ? block : first));
        }
#pragma unroll
        for (unsigned k = 0; k < kAtOnce; ++k) complete = complete && word[k] >> kBits == tag();
      } while (kWaits && !complete);
#pragma unroll
      for (unsigned k = 0; k < kAtOnce; ++k) least = (word[k] & kMask) < least ? word[k] & kMask : least;
    }
    return least;
  }

  static constexpr unsigned kTags = (1u << (64 - kBits)) - 1;
  static constexpr unsigned long long kMask = (1ull << kBits) - 1;

  // A block begins the next round only when it has seen all words of this one, so blocks are at most one round apart:
  // two sets of words suffice, and the tag tells a word from the older one in its place.
  __device__ unsigned long long *round_words() const { return words_ + (round_ % 2) * gridDim.x; }
  __device__ unsigned long long tag() const { return round_ % kTags + 1; }

  // Relaxed accesses, which bypass L1.
  static __device__ void store(unsigned long long *word, unsigned long long value) {
#ifdef __CUDA_ARCH__
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(word)), "l"(value)
                 : "memory");
#else
    *static_cast<volatile unsigned long long *>(word) = value;
#endif
  }
  static __device__ unsigned long long load(const unsigned long long *word) {
#ifdef __CUDA_ARCH__
    unsigned long long value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(value)
                 : "l"(__cvta_generic_to_global(word))
                 : "memory");
    return value;
#else
    return *static_cast<const volatile unsigned long long *>(word);
#endif
  }

  unsigned long long *words_;
  unsigned round_ = 0;
};

}  // namespace cudavision
