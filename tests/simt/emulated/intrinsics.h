// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA's arithmetic and memory intrinsics that involve only one thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

// --- bits ---
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline unsigned long long __brevll(unsigned long long x) {
  unsigned long long reversed = 0;
  for (int bit = 0; bit < 64; ++bit) reversed |= (x >> bit & 1u) << (63 - bit);
  return reversed;
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }

// The most (l) or least (r) significant 32 bits of hi:lo, shifted. lc and rc clamp the shift at 32; l and r wrap it.
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
  const std::uint64_t both = std::uint64_t{hi} << 32 | lo;
  return static_cast<unsigned>(both << (shift < 32 ? shift : 32) >> 32);
}
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
  const std::uint64_t both = std::uint64_t{hi} << 32 | lo;
  return static_cast<unsigned>(both >> (shift < 32 ? shift : 32));
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  return __funnelshift_lc(lo, hi, shift & 31u);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  return __funnelshift_rc(lo, hi, shift & 31u);
}

// --- bytes ---
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t both = std::uint64_t{y} << 32 | x;
  unsigned result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    const unsigned source = selector >> (4 * byte) & 7u;
    result |= static_cast<unsigned>(both >> (8 * source) & 0xffu) << (8 * byte);
  }
  return result;
}
inline unsigned __vabsdiffu4(unsigned a, unsigned b) {
  unsigned result = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    const unsigned x = a >> shift & 0xffu, y = b >> shift & 0xffu;
    result |= (x > y ? x - y : y - x) << shift;
  }
  return result;
}
inline unsigned __vcmpgtu4(unsigned a, unsigned b) {
  unsigned result = 0;
  for (unsigned byte = 0xffu; byte != 0; byte <<= 8) result |= (a & byte) > (b & byte) ? byte : 0;
  return result;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (unsigned shift = 0; shift < 32; shift += 8) sum += (a >> shift & 0xffu) * (b >> shift & 0xffu);
  return sum;
}
inline int __dp4a(int a, int b, int sum) {
  unsigned wrapped = static_cast<unsigned>(sum);
  for (int shift = 0; shift < 32; shift += 8)
    wrapped +=
        static_cast<unsigned>(static_cast<std::int8_t>(a >> shift) * static_cast<std::int8_t>(b >> shift));
  return static_cast<int>(wrapped);
}
// Multiplies two 16-bit numbers by the lower (lo) or the upper (hi) two bytes.
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned sum) {
  return sum + (a & 0xffffu) * (b & 0xffu) + (a >> 16) * (b >> 8 & 0xffu);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned sum) { return __dp2a_lo(a, b >> 16, sum); }

// --- integers ---
inline unsigned __usad(unsigned x, unsigned y, unsigned sum) { return (x > y ? x - y : y - x) + sum; }
inline unsigned __umulhi(unsigned x, unsigned y) { return static_cast<unsigned>(std::uint64_t{x} * y >> 32); }
inline int __mulhi(int x, int y) { return static_cast<int>(std::int64_t{x} * y >> 32); }

// --- floats: each operation rounds once and is never fused ---
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float rsqrtf(float a) { return 1.0f / std::sqrt(a); }
inline float __saturatef(float a) { return a >= 1.0f ? 1.0f : a > 0.0f ? a : 0.0f; }

namespace simt {
// CUDA's conversion saturates and converts NaN to 0; C++'s is undefined.
template <class Integer>
Integer saturating_cast(float rounded) {
  constexpr double kLow = std::numeric_limits<Integer>::min(), kHigh = std::numeric_limits<Integer>::max();
  if (std::isnan(rounded)) return 0;
  if (rounded <= kLow) return std::numeric_limits<Integer>::min();
  return rounded >= kHigh ? std::numeric_limits<Integer>::max() : static_cast<Integer>(rounded);
}
}  // namespace simt

inline int __float2int_rn(float a) { return simt::saturating_cast<int>(std::nearbyint(a)); }
inline int __float2int_rz(float a) { return simt::saturating_cast<int>(std::trunc(a)); }
inline int __float2int_rd(float a) { return simt::saturating_cast<int>(std::floor(a)); }
inline int __float2int_ru(float a) { return simt::saturating_cast<int>(std::ceil(a)); }
inline unsigned __float2uint_rn(float a) { return simt::saturating_cast<unsigned>(std::nearbyint(a)); }
inline unsigned __float2uint_rz(float a) { return simt::saturating_cast<unsigned>(std::trunc(a)); }
inline float __int2float_rn(int a) { return static_cast<float>(a); }
inline float __uint2float_rn(unsigned a) { return static_cast<float>(a); }
inline int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
inline unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
inline float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
inline float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }

// --- loads and stores with a cache hint ---
template <class T>
T __ldg(const T *address) {
  return *address;
}
template <class T>
T __ldcg(const T *address) {
  return *address;
}
template <class T>
T __ldcs(const T *address) {
  return *address;
}
template <class T>
void __stcg(T *address, T value) {
  *address = value;
}
template <class T>
void __stcs(T *address, T value) {
  *address = value;
}
