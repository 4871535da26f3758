// SPDX-License-Identifier: LGPL-2.1-or-later
// The emulated intrinsics that involve only one thread: bits, bytes, rounding, min and max, atomics.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include "tests/simt/simt_test_support.h"

namespace {

// --- min and max: CUDA's overloads ---

static_assert(std::is_same_v<decltype(min(1, 2)), int>);
static_assert(std::is_same_v<decltype(min(1, 2u)), unsigned>);
static_assert(std::is_same_v<decltype(max(std::uint8_t{1}, std::int16_t{2})), int>);
static_assert(std::is_same_v<decltype(max(1ll, 2ull)), unsigned long long>);
static_assert(std::is_same_v<decltype(min(1.0f, 2.0f)), float>);
static_assert(std::is_same_v<decltype(min(1.0f, 2.0)), double>);
static_assert(min(-1, 2u) == 2u && max(-1, 2) == 2 && min(std::size_t{5}, std::size_t{3}) == 3);

TEST_F(Simt, min_and_max_prefer_a_number_to_a_nan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(min(nan, 1.0f), 1.0f);
  EXPECT_EQ(max(1.0f, nan), 1.0f);
}

// --- bits and bytes ---

TEST_F(Simt, bit_intrinsics_match_loops) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t x = i == 0 ? 0 : random() >> i % 64;
    int ones = 0, first = 0, leading = 64;
    std::uint64_t reversed = 0;
    for (int bit = 0; bit < 64; ++bit) {
      if ((x >> bit & 1) == 0) continue;
      ++ones;
      if (first == 0) first = bit + 1;
      leading = 63 - bit;
      reversed |= std::uint64_t{1} << (63 - bit);
    }
    EXPECT_EQ(__popcll(x), ones);
    EXPECT_EQ(__ffsll(static_cast<long long>(x)), first);
    EXPECT_EQ(__clzll(static_cast<long long>(x)), leading);
    EXPECT_EQ(__brevll(x), reversed);
    const auto low = static_cast<unsigned>(x);
    EXPECT_EQ(__popc(low), __popcll(low));
    EXPECT_EQ(__ffs(static_cast<int>(low)), __ffsll(low));
    EXPECT_EQ(__clz(static_cast<int>(low)), __clzll(low) - 32);
    EXPECT_EQ(__brev(low), __brevll(low) >> 32);
  }
}

TEST_F(Simt, funnel_shifts_wrap_or_clamp) {
  constexpr unsigned kLo = 0x89abcdefu, kHi = 0x01234567u;
  EXPECT_EQ(__funnelshift_l(kLo, kHi, 8), 0x23456789u);
  EXPECT_EQ(__funnelshift_r(kLo, kHi, 8), 0x6789abcdu);
  EXPECT_EQ(__funnelshift_l(kLo, kHi, 0), kHi);
  EXPECT_EQ(__funnelshift_r(kLo, kHi, 0), kLo);
  EXPECT_EQ(__funnelshift_l(kLo, kHi, 40), 0x23456789u);
  EXPECT_EQ(__funnelshift_r(kLo, kHi, 32), kLo);
  EXPECT_EQ(__funnelshift_lc(kLo, kHi, 40), kLo);
  EXPECT_EQ(__funnelshift_rc(kLo, kHi, 32), kHi);
}

TEST_F(Simt, byte_intrinsics_match_their_definitions) {
  EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x7531), 0x77553311u);
  EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x0123), 0x00112233u);
  EXPECT_EQ(__vabsdiffu4(0x00ff1005u, 0xff001007u), 0xffff0002u);
  EXPECT_EQ(__vcmpgtu4(0x00ff1005u, 0x01001004u), 0x00ff00ffu);
  EXPECT_EQ(__dp4a(0x01020304u, 0x0a0b0c0du, 5u), 10u + 22 + 36 + 52 + 5);
  EXPECT_EQ(__dp4a(-1, 0x01020304, 100), 90);
  EXPECT_EQ(__dp2a_lo(0xffff0002u, 0x05060708u, 5u), 2u * 8 + 0xffff * 7 + 5);
  EXPECT_EQ(__dp2a_hi(0xffff0002u, 0x05060708u, 5u), 2u * 6 + 0xffff * 5 + 5);
  EXPECT_EQ(__usad(3, 10, 1), 8u);
  EXPECT_EQ(__umulhi(0x80000000u, 6), 3u);
  EXPECT_EQ(__mulhi(-2, 1), -1);
}

TEST_F(Simt, conversions_to_integers_round_and_saturate) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(__float2int_rn(0.5f), 0);
  EXPECT_EQ(__float2int_rn(1.5f), 2);
  EXPECT_EQ(__float2int_rn(-2.5f), -2);
  EXPECT_EQ(__float2int_rd(-0.5f), -1);
  EXPECT_EQ(__float2int_ru(0.5f), 1);
  EXPECT_EQ(__float2int_rz(-1.9f), -1);
  EXPECT_EQ(__float2int_rn(infinity), 0x7fffffff);
  EXPECT_EQ(__float2int_rn(-infinity), std::numeric_limits<int>::min());
  EXPECT_EQ(__float2int_rn(std::numeric_limits<float>::quiet_NaN()), 0);
  EXPECT_EQ(__float2uint_rn(-1.0f), 0u);
  EXPECT_EQ(__float2uint_rz(4294967296.0f), 0xffffffffu);
  EXPECT_EQ(__saturatef(-1.0f) + __saturatef(0.25f) + __saturatef(7.0f), 1.25f);
}

// --- atomics ---

template <class T, class U>
concept HasAtomicAdd = requires(T *address, U value) {
  atomicAdd(address, value);
};
static_assert(HasAtomicAdd<int, int> && HasAtomicAdd<unsigned long long, unsigned long long> &&
              HasAtomicAdd<float, float>);
// CUDA has no atomicAdd for these types: they must fail to compile here too.
static_assert(!HasAtomicAdd<std::size_t, std::size_t> && !HasAtomicAdd<long long, long long> &&
              !HasAtomicAdd<short, short>);

struct Atomics {
  int add, wrapped, low, high, exchanged, swapped, kept;
  unsigned bits, cleared, flipped, up, down;
  unsigned long long wide;
  float real;
};

__global__ void atomics_kernel(Atomics *a) {
  const int t = static_cast<int>(threadIdx.x);
  const unsigned bit = 1u << threadIdx.x % 32;
  atomicAdd(&a->add, t);
  atomicAdd(&a->wrapped, 0x40000000);
  atomicMin(&a->low, t - 5);
  atomicMax(&a->high, t);
  atomicExch(&a->exchanged, 7);
  atomicCAS(&a->swapped, 0, 9);
  atomicCAS(&a->kept, 1, 9);
  atomicOr(&a->bits, bit);
  atomicAnd(&a->cleared, ~bit);
  atomicXor(&a->flipped, bit);
  atomicInc(&a->up, 9u);
  atomicDec(&a->down, 9u);
  atomicAdd(&a->wide, 1ull << 40);
  atomicAdd(&a->real, 0.5f);
}

TEST_F(Simt, atomics_match_their_definitions_in_every_order) {
  for (const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    const DeviceArray<Atomics> array(1);
    run(1, 64, atomics_kernel, array.get());
    const Atomics a = array.download()[0];
    EXPECT_EQ(a.add, 63 * 32);
    EXPECT_EQ(a.wrapped, 0);
    EXPECT_EQ(a.low, -5);
    EXPECT_EQ(a.high, 63);
    EXPECT_EQ(a.exchanged, 7);
    EXPECT_EQ(a.swapped, 9);
    EXPECT_EQ(a.kept, 0);
    EXPECT_EQ(a.bits, 0xffffffffu);
    EXPECT_EQ(a.cleared, 0u);
    EXPECT_EQ(a.flipped, 0u);
    EXPECT_EQ(a.up, 64u % 10);
    EXPECT_EQ(a.down, (10u - 64 % 10) % 10);
    EXPECT_EQ(a.wide, 64ull << 40);
    EXPECT_EQ(a.real, 32.0f);
  }
}

__global__ void append_kernel(int *count, int *slots) { slots[atomicAdd(count, 1)] += 1; }

TEST_F(Simt, atomics_return_the_old_value) {
  const DeviceArray<int> count(1), slots(100);
  run(2, 50, append_kernel, count.get(), slots.get());
  EXPECT_EQ(slots.download(), std::vector<int>(100, 1));
}

}  // namespace
