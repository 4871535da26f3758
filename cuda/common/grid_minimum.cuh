// SPDX-License-Identifier: LGPL-2.1-or-later
// The minimum, over all blocks of a cooperative launch (CUDAVISION_LAUNCH_COOPERATIVE), of one value per block.
//
// In each round, a block stores its value together with the number of the round in one word, and polls the words of all
// blocks until they hold this number. A round takes the latency of one store to L2 and about one load. An atomic
// minimum, a grid barrier (grid_barrier.cuh) and a load of the result would take four such latencies, one after the
// other. Only the values are exchanged: a round does not order writes to other memory.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/acquire_release.cuh"
#include "cuda/common/warp.cuh"

namespace cudavision {

class GridMinimum {
 public:
  // Values are below 2^kBits.
  static constexpr int kBits = 54;

  // The number of words that a grid of `blocks` blocks needs. All must be 0 when the kernel starts.
  static constexpr int words(int blocks) { return 2 * static_cast<int>(kCopies) * blocks; }

  // Every thread of every block constructs one. words: in global memory, see words().
  __device__ explicit GridMinimum(unsigned long long *words) : words_(words) {}

  // Begins a round: stores the value of this block, and does not wait. One warp of the block must call, all of its
  // threads with the same value.
  __device__ void publish(unsigned long long value) {
    const unsigned copy = threadIdx.x % 32;
    if (copy < kCopies) relaxed_store(words_of(copy) + blockIdx.x, tag() | value);
  }

  // Ends the round: waits for the values of all blocks and returns the smallest. Every thread of every block must call.
  // Contains a barrier. result: a variable in shared memory that no thread may use before the next barrier.
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
  // The smallest word of every 32nd block, from the index of this lane on. Waits for these words.
  __device__ unsigned long long least_of_lane() const {
    constexpr unsigned kAtOnce = 5;  // words per lane whose loads overlap: enough for 160 blocks
    const unsigned long long round_tag = tag();
    const auto is_old = [round_tag](unsigned long long word) { return ((word ^ round_tag) & ~kMask) != 0; };
    unsigned long long least = round_tag | kMask;
#pragma unroll 1
    for (unsigned first = threadIdx.x; first < gridDim.x; first += 32 * kAtOnce) {
      const unsigned long long *const words = words_of(blockIdx.x % kCopies) + first;
      unsigned missing = 0;  // bit k is set until word k of this round has been read
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

  // The number of copies of each word. Blocks read different copies, because all of them poll at the same time.
  static constexpr unsigned kCopies = 32;

  static constexpr unsigned long long kMask = (1ull << kBits) - 1;
  // The tag of a round is its number, from 2 to the largest one and then again, so even and odd ones alternate.
  static constexpr unsigned kTagUnit = 1u << (kBits - 32), kFirstTag = 2 * kTagUnit;

  // A block begins the next round only after reading the words of all blocks, so blocks are at most one round apart.
  // Two sets of words, used in turn, therefore suffice; the tag distinguishes a word from the older one at its place.
  __device__ void next_round() {
    high_tag_ += kTagUnit;
    if (high_tag_ == 0) high_tag_ = kFirstTag;
  }
  // The tag of this round, in the bits above the value. Never 0, because words are 0 when the kernel starts.
  __device__ unsigned long long tag() const { return static_cast<unsigned long long>(high_tag_) << 32; }
  __device__ unsigned long long *words_of(unsigned copy) const {
    return words_ + (high_tag_ / kTagUnit % 2 * kCopies + copy) * gridDim.x;
  }

  unsigned long long *words_;
  // The high half of tag().
  unsigned high_tag_ = kFirstTag;
};

}  // namespace cudavision
