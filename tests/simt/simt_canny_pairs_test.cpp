// SPDX-License-Identifier: LGPL-2.1-or-later
// Canny's arithmetic with two halfs in a register, for every number that it can meet. Pictures reach only some of them.
#include <gtest/gtest.h>

#include "cuda/canny/pair_gradient.cuh"

namespace {

using cudavision::canny::excess;
using cudavision::canny::IntegerPair;

constexpr unsigned kMost = 1020;  // the largest component of a gradient

TEST(CannyPairs, excess_has_the_sign_of_the_exact_difference) {
  for (unsigned a = 0; a <= kMost; ++a)
    for (unsigned b = 0; b <= kMost; ++b) {
      const unsigned other = kMost - b,
                     bits = excess(IntegerPair{b | other << 16}, IntegerPair{a * 0x10001}).bits;
      ASSERT_EQ((bits >> 15 & 1) != 0, a * 13573 > b << 15) << a << " " << b;
      ASSERT_EQ(bits >> 31 != 0, a * 13573 > other << 15) << a << " " << other;
    }
}

// A gradient (a, b) is vertical by canny_rules.h if and only if it is by pair_gradient.cuh.
TEST(CannyPairs, both_bounds_of_the_vertical_sector_are_the_same) {
  for (unsigned a = 0; a <= kMost; ++a)
    for (unsigned b = 0; b <= kMost; ++b)
      ASSERT_EQ(b << 15 > a * (13573 + (1 << 16)), b * 13573 > a << 15) << a << " " << b;
}

}  // namespace
