// SPDX-License-Identifier: LGPL-2.1-or-later
// The running sums of a window that one thread holds in registers: two neighbouring bins of counts, which
// share a word of a column, or one bin of weights.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace cudavision::localhist {

// All classes of this file have the same members. kBins: the bins of a word. kCounts: whether every sample counts 1.
// kPairs: whether two elements of the output fit one word. add(), move(): take words of columns (column_tile.cuh).
// bits(i): the sum of bin i in 32 bits; number() converts these to f32, and element() to Element, the output's type.

// Two sums of 16 bits in one word. Both stay below 2^16, so that carries and borrows between them in move() cancel out.
struct Counts16 {
  static constexpr int kBins = 2;
  static constexpr bool kCounts = true, kPairs = true;
  using Element = std::uint16_t;
  unsigned both = 0;

  __device__ void add(unsigned word) { both += word; }
  __device__ void move(unsigned entering, unsigned leaving) { both += entering - leaving; }
  __device__ unsigned bits(int i) const { return i == 0 ? both & 0xffffu : both >> 16; }
  __device__ static float number(unsigned bits) { return static_cast<float>(bits); }
  __device__ static Element element(unsigned bits, float) { return static_cast<Element>(bits); }
};

struct Counts32 {
  static constexpr int kBins = 2;
  static constexpr bool kCounts = true, kPairs = false;
  using Element = std::uint32_t;
  unsigned low = 0, high = 0;

  __device__ void add(unsigned word) {
    low += word & 0xffffu;
    high += word >> 16;
  }
  __device__ void move(unsigned entering, unsigned leaving) {
    low += (entering & 0xffffu) - (leaving & 0xffffu);
    high += (entering >> 16) - (leaving >> 16);
  }
  __device__ unsigned bits(int i) const { return i == 0 ? low : high; }
  __device__ static float number(unsigned bits) { return static_cast<float>(bits); }
  __device__ static Element element(unsigned bits, float) { return bits; }
};

// Weights in fixed point; `unit` is the value of 1. Sum: an unsigned type of 32 or 64 bits.
template <typename Sum>
struct Weights {
  static constexpr int kBins = 1;
  static constexpr bool kCounts = false, kPairs = false;
  using Element = float;
  Sum sum = 0;

  __device__ void add(unsigned word) { sum += word; }
  __device__ void move(unsigned entering, unsigned leaving) { sum = sum + entering - leaving; }
  __device__ unsigned bits(int) const { return __float_as_uint(static_cast<float>(sum)); }
  __device__ static float number(unsigned bits) { return __uint_as_float(bits); }
  __device__ static Element element(unsigned bits, float unit) { return __uint_as_float(bits) * unit; }
};

}  // namespace cudavision::localhist
