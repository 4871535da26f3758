// SPDX-License-Identifier: LGPL-2.1-or-later
// Gradients for aperture 3 and L1 magnitudes, the default, two pixels at a time (integer_pair.cuh). Sums of the operator
// are at most 1020, and magnitudes at most 2040.
#pragma once

#include <cuda_runtime.h>

#include "cuda/canny/integer_pair.cuh"

namespace cudavision::canny {

// The two horizontal passes of the Sobel operator at two neighbouring pixels of a row.
struct PairRow {
  IntegerPair smooth, derive;
};
// words: the pairs of pixels before, at and after them.
__device__ inline PairRow pair_row(const unsigned *words) {
  const unsigned before = words[0], here = words[1], after = words[2];
  const IntegerPair left{__byte_perm(before, here, 0x5432)}, right{__byte_perm(here, after, 0x5432)};
  return {multiply_add({here}, Factor::two, add(left, right)), subtract(right, left)};
}

struct PairGradient {
  IntegerPair dx, dy;

  __device__ PairGradient(const PairRow &above, const PairRow &here, const PairRow &below)
      : dx(multiply_add(here.derive, Factor::two, add(above.derive, below.derive))),
        dy(subtract(below.smooth, above.smooth)) {}
  // The L1 magnitudes, which are their own ranks.
  __device__ unsigned ranks() const { return add(absolute(dx), absolute(dy)).bits; }
};

// Returns a negative number where a * 13573 > b * 2^15, for a and b from 0 to 1020. The product is subtracted in two parts,
// because no half equals 13573. The first difference may be rounded; for such a and b this never changes the sign of the
// result, which simt_canny_pairs_test.cpp tests.
__device__ inline IntegerPair excess(IntegerPair b, IntegerPair a) {
  const IntegerPair first = multiply_add(a, Factor::minus_13568, multiply(b, Factor::two_to_15));
  return multiply_add(a, Factor::minus_5, first);
}

__device__ inline unsigned select_bits(unsigned mask, unsigned set, unsigned clear) {
  return (set & mask) | (clear & ~mask);
}

// The steps of the sectors, as LaneSteps holds them.
struct SectorSteps {
  int horizontal, vertical, falling, rising;
};

// The steps of four pixels, one byte each: those of `first`, then those of `second`. A gradient is vertical if
// |dx| * 2^15 < |dy| * 13573. For components up to 1020 this is the same as |dy| * 2^15 > |dx| * (13573 + 2^16) in
// canny_rules.h, because no fraction with such a denominator lies between the two bounds (tested there, too).
__device__ inline unsigned steps_of(const PairGradient &first, const PairGradient &second,
                                    SectorSteps steps) {
  const auto four = [](int step) { return (static_cast<unsigned>(step) & 255u) * 0x01010101u; };
  const auto horizontal = [](const PairGradient &g) { return excess(absolute(g.dy), absolute(g.dx)).bits; };
  const auto vertical = [](const PairGradient &g) { return excess(absolute(g.dx), absolute(g.dy)).bits; };
  const unsigned rising = negative_bytes(first.dx.bits ^ first.dy.bits, second.dx.bits ^ second.dy.bits);
  const unsigned diagonal = select_bits(rising, four(steps.rising), four(steps.falling));
  const unsigned not_horizontal =
      select_bits(negative_bytes(vertical(first), vertical(second)), four(steps.vertical), diagonal);
  return select_bits(negative_bytes(horizontal(first), horizontal(second)), four(steps.horizontal),
                     not_horizontal);
}

}  // namespace cudavision::canny
