// SPDX-License-Identifier: LGPL-2.1-or-later
// Arithmetic on two integers in one register, by the instructions for pairs of halfs (IEEE 754 binary16).
//
// The half with the bits n, for an integer n of 0 to 2047, has the value n * 2^-24. So pairs of pixels are pairs of halfs
// without a conversion, sums of at most 2047 are exact, and the bits of a result are the integer again (with a sign bit
// if it is negative). Larger numbers are rounded to 11 significant bits. The GPU needs one instruction for both numbers.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace cudavision::canny {

struct IntegerPair {
  unsigned bits;  // the first number in the lower half
};

// The bits of halfs, which multiply() and multiply_add() take as factors.
enum class Factor : unsigned { two = 0x4000, minus_5 = 0xc500, minus_13568 = 0xf2a0, two_to_15 = 0x7800 };
__device__ constexpr unsigned both(Factor factor) { return static_cast<unsigned>(factor) * 0x10001u; }

#ifdef __CUDA_ARCH__

__device__ inline IntegerPair add(IntegerPair a, IntegerPair b) {
  IntegerPair sum;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum.bits) : "r"(a.bits), "r"(b.bits));
  return sum;
}
__device__ inline IntegerPair subtract(IntegerPair a, IntegerPair b) {
  IntegerPair difference;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(difference.bits) : "r"(a.bits), "r"(b.bits));
  return difference;
}
__device__ inline IntegerPair multiply(IntegerPair a, Factor factor) {
  IntegerPair product;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product.bits) : "r"(a.bits), "r"(both(factor)));
  return product;
}
// a * factor + c, rounded once.
__device__ inline IntegerPair multiply_add(IntegerPair a, Factor factor, IntegerPair c) {
  IntegerPair sum;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum.bits) : "r"(a.bits), "r"(both(factor)), "r"(c.bits));
  return sum;
}

#else  // the emulated CUDA

inline double value_of_half(unsigned bits) {
  const std::uint64_t exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 0 ? static_cast<double>(fraction) * 0x1p-24
                                         : std::bit_cast<double>((exponent + 1008) << 52 | fraction << 42);
  return (bits >> 15 & 1) != 0 ? -magnitude : magnitude;
}
// Rounds half to even, by an addition of a number whose last bit has the weight of the last bit of the half.
inline unsigned half_of_value(double value) {
  const double magnitude = std::fabs(value);
  const auto exponent = std::max<std::uint64_t>(std::bit_cast<std::uint64_t>(magnitude) >> 52, 1009);
  const double large = std::bit_cast<double>((exponent + 42) << 52);
  const double unit = std::bit_cast<double>((exponent - 10) << 52);
  const auto units = static_cast<unsigned>(((magnitude + large) - large) / unit);
  const unsigned bits = static_cast<unsigned>(exponent - 1009) * 1024 + units;
  return (std::signbit(value) ? 0x8000u : 0u) | std::min(bits, 0x7c00u);
}
template <typename Operation>
IntegerPair for_both(const Operation &operation) {
  const unsigned first = half_of_value(operation(0)), second = half_of_value(operation(16));
  return IntegerPair{first | second << 16};
}
inline double part_of(IntegerPair pair, int shift) { return value_of_half(pair.bits >> shift & 0xffff); }
inline double value_of(Factor factor) { return value_of_half(static_cast<unsigned>(factor)); }

inline IntegerPair add(IntegerPair a, IntegerPair b) {
  return for_both([=](int shift) { return part_of(a, shift) + part_of(b, shift); });
}
inline IntegerPair subtract(IntegerPair a, IntegerPair b) {
  return for_both([=](int shift) { return part_of(a, shift) - part_of(b, shift); });
}
inline IntegerPair multiply(IntegerPair a, Factor factor) {
  return for_both([=](int shift) { return part_of(a, shift) * value_of(factor); });
}
inline IntegerPair multiply_add(IntegerPair a, Factor factor, IntegerPair c) {
  return for_both([=](int shift) { return part_of(a, shift) * value_of(factor) + part_of(c, shift); });
}

#endif

__device__ inline IntegerPair absolute(IntegerPair a) { return {a.bits & 0x7fff7fffu}; }

// A byte for each of four numbers: 255 if it is negative, otherwise 0. They are those of `first` and then those of
// `second`, in the order of the bytes of the result.
__device__ inline unsigned negative_bytes(unsigned first, unsigned second) {
#ifdef __CUDA_ARCH__  // the fourth bit of each part of the selector repeats the sign of the byte
  unsigned bytes;
  asm("prmt.b32 %0, %1, %2, 0xfdb9;" : "=r"(bytes) : "r"(first), "r"(second));
  return bytes;
#else
  const auto mask = [](unsigned word, int bit) { return (word >> bit & 1) != 0 ? 255u : 0u; };
  return mask(first, 15) | mask(first, 31) << 8 | mask(second, 15) << 16 | mask(second, 31) << 24;
#endif
}

}  // namespace cudavision::canny
