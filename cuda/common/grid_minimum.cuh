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

  // Begins a round with the value of this block. Only the call of the block's first thread has an effect; the others may
  // call, too. It does not wait: work between publish() and collect() hides the latency of both.
  __device__ void publish(unsigned long long value) {
    if (threadIdx.x == 0) store(round_words() + blockIdx.x, tag() << kBits | value);
  }

  // Loads the word that collect() looks at first. A call between publish() and other work hides that load's latency, too.
  __device__ unsigned long long look() const {
    return threadIdx.x < gridDim.x ? load(round_words() + threadIdx.x) : 0;
  }

  // Returns the smallest value of the round. Every thread of every block must call. looked: of look() in this round.
  // per_warp: shared memory, one word for each warp of the block, which no thread uses before the next barrier of the
  // block. Synchronises the block.
  __device__ unsigned long long collect(unsigned long long looked, unsigned long long *per_warp) {
#ifdef CUDAVISION_EMULATED_CUDA
    simt::grid_barrier();
    constexpr bool kWaits = false;  // all words are there: a wrong one fails a test instead of hanging it
#else
    constexpr bool kWaits = true;
#endif
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32,
              warps = static_cast<int>(blockDim.x) / 32;
    unsigned long long least = kMask;
    // Nearly always there is one step: to prepare an unrolled loop would take longer.
#pragma unroll 1
    for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
      unsigned long long word = kWaits && block == threadIdx.x ? looked : load(round_words() + block);
      while (kWaits && word >> kBits != tag()) word = load(round_words() + block);
      word &= kMask;
      least = word < least ? word : least;
    }
    least = warp_min(least);
    if (lane == 0) per_warp[warp] = least;
    __syncthreads();
    ++round_;
    return warp_min(per_warp[lane < warps ? lane : 0]);
  }

 private:
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
