// SPDX-License-Identifier: LGPL-2.1-or-later
// The running sums of a window that one thread holds: of two neighbouring bins where counts share a word of a
// column, of one bin where weights do not.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace cudavision::localhist {

// Each has kBins bins a word; add and subtract a column's word; bits(i) is the number of bin i in 32 bits,
// and number() reads that as f32. Element is what is written of it.

// Both halves stay below 2^16: carries between them that an addition makes, a later subtraction takes back.
struct Counts16 {
  static constexpr int kBins = 2;
  using Element = std::uint16_t;
  unsigned both = 0;

  __device__ void add(unsigned word) { both += word; }
  __device__ void subtract(unsigned word) { both -= word; }
  __device__ unsigned bits(int i) const { return i == 0 ? both & 0xffffu : both >> 16; }
  __device__ static float number(unsigned bits) { return static_cast<float>(bits); }
  __device__ static Element element(unsigned bits, float) { return static_cast<Element>(bits); }
};

struct Counts32 {
  static constexpr int kBins = 2;
  using Element = std::uint32_t;
  unsigned low = 0, high = 0;

  __device__ void add(unsigned word) {
    low += word & 0xffffu;
    high += word >> 16;
  }
  __device__ void subtract(unsigned word) {
    low -= word & 0xffffu;
    high -= word >> 16;
  }
  __device__ unsigned bits(int i) const { return i == 0 ? low : high; }
  __device__ static float number(unsigned bits) { return static_cast<float>(bits); }
  __device__ static Element element(unsigned bits, float) { return bits; }
};

// Sum: of weights in fixed point, `unit` each.
template <typename Sum>
struct Weights {
  static constexpr int kBins = 1;
  using Element = float;
  Sum sum = 0;

  __device__ void add(unsigned word) { sum += word; }
  __device__ void subtract(unsigned word) { sum -= word; }
  __device__ unsigned bits(int) const { return __float_as_uint(static_cast<float>(sum)); }
  __device__ static float number(unsigned bits) { return __uint_as_float(bits); }
  __device__ static Element element(unsigned bits, float unit) { return __uint_as_float(bits) * unit; }
};

}  // namespace cudavision::localhist
