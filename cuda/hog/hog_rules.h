// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic that both backends of HOG share: colours, angles, votes and the normalisation of a block.
//
// Votes, the numbers of a block and the products of a score are summed in the same order, each product by a fused
// multiply-add, so that both backends and all instruction sets compute the same bits. The only other fused operations
// are those that angle_of() and vote_of() write as fmaf().
// - The votes of a row of pixels are added from left to right, one after the other; then the rows from top to bottom.
// - Over a block there are kPartialSums sums: sum j adds the numbers j, j + kPartialSums, j + 2 kPartialSums and so
//   on. They are then added in pairs: sum j and sum j + kPartialSums / 2, then j and j + kPartialSums / 4, and so on.
// - The products of one row of a window's blocks with their weights are added from the first number of a descriptor to
//   the last one, and those of one number from left to right; then these sums are added to the bias, from top to
//   bottom.
#pragma once

#include <cfloat>
#include <cmath>

#include "cuda/common/host_device.h"
#include "cuda/common/normal_math_rules.h"
#include "cuda/hog/hog.h"

namespace cudavision::hog {

// HogParams in the form in which the arithmetic needs them.
struct Rules {
  HogVariant variant;
  HogNorm norm;              // never HogNorm::variant
  Size cell, block, stride;  // pixels
  int cells_x, cells_y;      // cells of a block
  int bins;                  // orientations of a cell
  int length;                // numbers of a block's descriptor: cells_x * cells_y * bins
  bool gamma, signed_gradient;
  float unit;                     // the factor of a colour, after the square root if there is one
  float angle_scale;              // bins per degree (opencv) or radian (ghog)
  float epsilon, second_epsilon;  // e and f of HogNorm
  float clip;                     // of l2_hys

  friend bool operator==(const Rules &, const Rules &) = default;
};

// Converts a colour, 0 to 255, to the value from which gradients are computed.
CUDAVISION_HOST_DEVICE inline float color_value(const Rules &rules, float byte) {
  return (rules.gamma ? normal_root(byte) : byte) * rules.unit;
}

// The vote of a pixel: `first` for the bin `bin`, `second` for the next bin (bin 0 follows the last one).
struct Vote {
  float first, second;
  int bin;
};

// Degrees per radian.
constexpr float kDegrees = static_cast<float>(180 / 3.1415926535897932384626433832795);

// A quarter of a turn in the unit of angle_of().
CUDAVISION_HOST_DEVICE constexpr float quarter_turn(HogVariant variant) {
  return variant == HogVariant::opencv ? 90.0f : 3.14159265f / 2;
}

// The angle of (dx, dy): 0 to a full turn if the gradients are signed, otherwise 0 to half a turn, after which
// orientations repeat. The variant opencv evaluates the polynomial of cv::fastAtan2, which is in degrees; the variant
// ghog that of M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 4.4.49, in radians, whose error is at
// most 2e-8 if it is evaluated exactly, and 6e-7 in floats.
CUDAVISION_HOST_DEVICE inline float angle_of(const Rules &rules, float dx, float dy) {
  const float ax = fabsf(dx), ay = fabsf(dy);
  const float more = ax >= ay ? ax : ay, less = ax >= ay ? ay : ax;
  const float quarter = quarter_turn(rules.variant);
  float a;
  if (rules.variant == HogVariant::opencv) {
    const float c = normal_quotient(less, more + static_cast<float>(DBL_EPSILON)), c2 = c * c;
    a = fmaf(kDegrees * -0.04432655554792128f, c2, kDegrees * 0.1555786518463281f);
    a = fmaf(a, c2, kDegrees * -0.3258083974640975f);
    a = fmaf(a, c2, kDegrees * 0.9997878412794807f) * c;
  } else {
    const float c = less / (more + FLT_MIN), c2 = c * c;
    a = 0.0028662257f;
    a = a * c2 - 0.0161657367f;
    a = a * c2 + 0.0429096138f;
    a = a * c2 - 0.0752896400f;
    a = a * c2 + 0.1065626393f;
    a = a * c2 - 0.1420889944f;
    a = a * c2 + 0.1999355085f;
    a = a * c2 - 0.3333314528f;
    a = (a * c2 + 1.0f) * c;
  }
  if (ax < ay) a = quarter - a;
  // Between a quarter of a turn and a half: the mirror image of the first quarter.
  if ((dx < 0) != (dy < 0 && !rules.signed_gradient)) a = 2 * quarter - a;
  if (dy < 0 && rules.signed_gradient) a = 4 * quarter - a;
  return a;
}

// Divides the vote of a pixel between the two nearest bins, by linear interpolation between their centres (equations
// 3.6 to 3.11 of the thesis). The centre of a bin lies half a bin from its borders. squared_length: dx * dx + dy * dy.
CUDAVISION_HOST_DEVICE inline Vote vote_of(const Rules &rules, float dx, float dy, float squared_length) {
  const float magnitude = normal_root(squared_length);
  // In units of bins, from the centre of bin 0: -0.5 to bins - 0.5.
  const float position = fmaf(angle_of(rules, dx, dy), rules.angle_scale, -0.5f);
  const float below = floorf(position), share = position - below;
  if (rules.bins == 1) return {magnitude, 0.0f, 0};
  const int bin = static_cast<int>(below);
  return {magnitude * (1.0f - share), magnitude * share, bin < 0 ? rules.bins - 1 : bin};
}

// From this column on, the first of R, G, B wins a tie between channels; before it, the first of B, G, R.
CUDAVISION_HOST_DEVICE constexpr int first_column_of_tail(HogVariant variant, int width) {
  return variant == HogVariant::opencv ? width & ~3 : width;
}

// The longest of the gradients of a pixel's channels. The first one wins a tie, or, if `reverse`, the last one.
struct LongestGradient {
  bool reverse = false;
  float dx = 0, dy = 0, squared_length = 0;

  CUDAVISION_HOST_DEVICE void take(int channel, float other_dx, float other_dy) {
    const float other = other_dx * other_dx + other_dy * other_dy;
    if (channel == 0 || (reverse ? other >= squared_length : other > squared_length))
      squared_length = other, dx = other_dx, dy = other_dy;
  }
};

// The pixels of a row of a block that may vote for the cells in column `cell`, as their first and their end. With the
// variant opencv, votes reach to the centres of the neighbouring cells.
CUDAVISION_HOST_DEVICE constexpr int first_voter(const Rules &rules, int cell) {
  const int first =
      cell * rules.cell.width - (rules.variant == HogVariant::opencv ? rules.cell.width / 2 : 0);
  return first > 0 ? first : 0;
}
CUDAVISION_HOST_DEVICE constexpr int end_of_voters(const Rules &rules, int cell) {
  const int end =
      (cell + 1) * rules.cell.width + (rules.variant == HogVariant::opencv ? rules.cell.width / 2 : 0);
  return end < rules.block.width ? end : rules.block.width;
}

// --- normalisation of a block ---
// Each number v of the block becomes scaled(rules, v, scale_of(rules, sum)), where sum adds the terms of all numbers.
// For l2_hys it is then multiplied by second_scale_of(rules, sum), where sum adds the squares of the scaled numbers.
constexpr int kPartialSums = 16;

// Returns sum plus the term of v: v or, for the L2 norms, its square. v is not negative.
CUDAVISION_HOST_DEVICE inline float add_term(const Rules &rules, float v, float sum) {
  return rules.norm == HogNorm::l1 || rules.norm == HogNorm::l1_sqrt ? sum + v : fmaf(v, v, sum);
}
// Here and in second_scale_of(), `sum` may be too small for normal_root(); then epsilon absorbs its tiny root.
CUDAVISION_HOST_DEVICE inline float scale_of(const Rules &rules, float sum) {
  const bool squares = rules.norm == HogNorm::l2 || rules.norm == HogNorm::l2_hys;
  return normal_inverse((squares ? normal_root(sum) : sum) + rules.epsilon);
}
CUDAVISION_HOST_DEVICE inline float scaled(const Rules &rules, float v, float scale) {
  v *= scale;
  // With a narrow Gaussian, v may be too small for normal_root(). Powers of two do not change how the root is rounded.
  if (rules.norm == HogNorm::l1_sqrt) return normal_root(v * 0x1p60f) * 0x1p-30f;
  return rules.norm == HogNorm::l2_hys && v > rules.clip ? rules.clip : v;
}
CUDAVISION_HOST_DEVICE inline float second_scale_of(const Rules &rules, float sum) {
  return normal_inverse(normal_root(sum) + rules.second_epsilon);
}

}  // namespace cudavision::hog
