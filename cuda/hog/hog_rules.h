// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic that both backends of HOG share: colours, angles, votes and the normalisation of a block.
//
// Votes, the numbers of a block and the products of a score are summed in the same order, each product by a fused
// multiply-add, so that both backends and all instruction sets compute the same bits; nothing else is fused:
// - The votes of a row of pixels are added from left to right, one after the other; then the rows from top to bottom.
// - Over a block there are kPartialSums sums: sum j adds the numbers j, j + kPartialSums, j + 2 kPartialSums and so
//   on. They are then added in pairs: sum j and sum j + kPartialSums / 2, then j and j + kPartialSums / 4, and so on.
// - The products of one row of a window's blocks with their weights are added from left to right; then these sums are
//   added to the bias, from top to bottom.
#pragma once

#include <cfloat>
#include <cmath>

#include "cuda/common/host_device.h"
#include "cuda/common/normal_math.h"
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
  bool gamma;
  float unit;                     // the factor of a colour, after the square root if there is one
  float angle_scale;              // bins per radian
  float epsilon, second_epsilon;  // e and f of HogNorm
  float clip;                     // of l2_hys

  friend bool operator==(const Rules &, const Rules &) = default;
};

CUDAVISION_HOST_DEVICE inline float color_value(const Rules &rules, int byte) {
  const float value = static_cast<float>(byte);
  return (rules.gamma ? sqrtf(value) : value) * rules.unit;
}

// The vote of a pixel: `first` for the bin `bin`, `second` for the next bin (bin 0 follows the last one).
struct Vote {
  float first, second;
  int bin;
};

// The angle of (dx, dy) in radians, 0 to 2 pi. The variant opencv evaluates the polynomial of cv::fastAtan2,
// which is in degrees; the variant ghog that of M. Abramowitz and I. Stegun, "Handbook of Mathematical
// Functions", 4.4.49, whose error is at most 2e-8 if it is evaluated exactly, and 6e-7 in floats.
CUDAVISION_HOST_DEVICE inline float angle_of(HogVariant variant, float dx, float dy) {
  const float ax = fabsf(dx), ay = fabsf(dy);
  const float more = ax >= ay ? ax : ay, less = ax >= ay ? ay : ax;
  if (variant == HogVariant::opencv) {
    constexpr float kDegrees = static_cast<float>(180 / 3.1415926535897932384626433832795);
    // normal_quotient() does not divide 0. This number is so small that the subtraction in vote_of() absorbs its angle.
    constexpr float kAlmostZero = 1e-27f;
    const float c =
        normal_quotient(less > kAlmostZero ? less : kAlmostZero, more + static_cast<float>(DBL_EPSILON));
    const float c2 = c * c;
    float a = (((-0.04432655554792128f * kDegrees * c2 + 0.1555786518463281f * kDegrees) * c2 +
                -0.3258083974640975f * kDegrees) *
                   c2 +
               0.9997878412794807f * kDegrees) *
              c;
    if (ax < ay) a = 90.0f - a;
    if (dx < 0) a = 180.0f - a;
    if (dy < 0) a = 360.0f - a;
    return a * static_cast<float>(3.1415926535897932384626433832795 / 180);
  }
  constexpr float kPi = 3.14159265f;
  const float c = less / (more + FLT_MIN), c2 = c * c;
  float a = 0.0028662257f;
  a = a * c2 - 0.0161657367f;
  a = a * c2 + 0.0429096138f;
  a = a * c2 - 0.0752896400f;
  a = a * c2 + 0.1065626393f;
  a = a * c2 - 0.1420889944f;
  a = a * c2 + 0.1999355085f;
  a = a * c2 - 0.3333314528f;
  a = (a * c2 + 1.0f) * c;
  if (ax < ay) a = kPi / 2 - a;
  if (dx < 0) a = kPi - a;
  if (dy < 0) a = 2 * kPi - a;
  return a;
}

// Interpolates linearly between the centres of the two nearest bins (equations 3.6 to 3.11 of the thesis).
// The centre of a bin lies half a bin from its borders.
// squared_length: dx * dx + dy * dy.
CUDAVISION_HOST_DEVICE inline Vote vote_of(const Rules &rules, float dx, float dy, float squared_length) {
  const float magnitude = normal_root(squared_length);
  // In units of bins, from the centre of bin 0.
  const float position = angle_of(rules.variant, dx, dy) * rules.angle_scale - 0.5f;
  const float below = floorf(position), share = position - below;
  if (rules.bins == 1) return {magnitude, 0.0f, 0};
  int bin = static_cast<int>(below);
  if (bin < 0) bin += rules.bins;
  if (bin >= rules.bins) bin -= rules.bins;  // unsigned orientations cover the circle twice
  return {magnitude * (1.0f - share), magnitude * share, bin};
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

// --- normalisation of a block ---
// Each of its numbers v becomes scaled(rules, v, scale_of(rules, sum)), where sum is the sum of the terms
// over the block. For l2_hys it is then multiplied by second_scale_of(rules, sum), where sum is the sum of
// the squares of the scaled numbers.
constexpr int kPartialSums = 16;

// sum plus the term of v, which is not negative.
CUDAVISION_HOST_DEVICE inline float add_term(const Rules &rules, float v, float sum) {
  return rules.norm == HogNorm::l1 || rules.norm == HogNorm::l1_sqrt ? sum + v : fmaf(v, v, sum);
}
CUDAVISION_HOST_DEVICE inline float scale_of(const Rules &rules, float sum) {
  const bool squares = rules.norm == HogNorm::l2 || rules.norm == HogNorm::l2_hys;
  return 1.0f / ((squares ? sqrtf(sum) : sum) + rules.epsilon);
}
CUDAVISION_HOST_DEVICE inline float scaled(const Rules &rules, float v, float scale) {
  v *= scale;
  if (rules.norm == HogNorm::l1_sqrt) return sqrtf(v);
  return rules.norm == HogNorm::l2_hys && v > rules.clip ? rules.clip : v;
}
CUDAVISION_HOST_DEVICE inline float second_scale_of(const Rules &rules, float sum) {
  return 1.0f / (sqrtf(sum) + rules.second_epsilon);
}

}  // namespace cudavision::hog
