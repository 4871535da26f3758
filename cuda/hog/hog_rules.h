// SPDX-License-Identifier: LGPL-2.1-or-later
// What both backends of HOG share: what a pixel votes, how votes are shared out, and how a block is
// normalised.
#pragma once

#include <cfloat>
#include <cmath>
#include <vector>

#include "cuda/common/backends.h"
#include "cuda/hog/hog.h"

namespace cudavision::hog {

constexpr int kMaxLength = kMaxHogBlockCells * kMaxHogBlockCells * kMaxHogBins;

// What a kernel, or a row of the CPU's, has to know; plain values.
struct Rules {
  HogVariant variant;
  HogNorm norm;
  Size cell, block, stride;
  int cells_x, cells_y, bins, length;
  bool gamma;
  float unit;         // of a colour after the square root
  float angle_scale;  // bins a radian
  float epsilon, second_epsilon, clip;

  friend bool operator==(const Rules &, const Rules &) = default;
};
Rules rules_of(const HogParams &params);

// Which pixels of a block vote for cell c along one axis: [begin[c], end[c]), with weight[c * side + pixel].
// Separable: a pixel's weight is the product of both axes'.
struct AxisWeights {
  int side = 0, cells = 0;
  std::vector<int> begin, end;
  std::vector<float> weight;
};
AxisWeights axis_weights(int cell, int side, HogVariant variant, double sigma);
// The sigma of params, in pixels.
double sigma_of(const HogParams &params);

CUDAVISION_HOST_DEVICE inline float color_value(const Rules &rules, int byte) {
  const float value = static_cast<float>(byte);
  return (rules.gamma ? sqrtf(value) : value) * rules.unit;
}

// Votes: first for bin, second for the next one, which follows the last one around.
struct Vote {
  float first, second;
  int bin;
};

// The angle of (dx, dy) in radians, 0 to 2 pi. fastAtan2's polynomial is in degrees; the other is that of
// M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 4.4.49, which errs by 2e-8 at most.
CUDAVISION_HOST_DEVICE inline float angle_of(HogVariant variant, float dx, float dy) {
  const float ax = fabsf(dx), ay = fabsf(dy);
  const float more = ax >= ay ? ax : ay, less = ax >= ay ? ay : ax;
  if (variant == HogVariant::opencv) {
    constexpr float kDegrees = static_cast<float>(180 / 3.1415926535897932384626433832795);
    const float c = less / (more + static_cast<float>(DBL_EPSILON)), c2 = c * c;
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

// Linear between the centres of bins, which lie half a bin from their borders (equations 3.6 to 3.11).
CUDAVISION_HOST_DEVICE inline Vote vote_of(const Rules &rules, float dx, float dy) {
  const float magnitude = sqrtf(dx * dx + dy * dy);
  const float place = angle_of(rules.variant, dx, dy) * rules.angle_scale - 0.5f;
  const float below = floorf(place), share = place - below;
  int bin = static_cast<int>(below);
  if (bin < 0) bin += rules.bins;
  while (bin >= rules.bins) bin -= rules.bins;  // unsigned orientations go round twice
  return {magnitude * (1.0f - share), magnitude * share, bin};
}

// From this column on ties between channels go to the first of R, G, B.
CUDAVISION_HOST_DEVICE constexpr int first_column_of_tail(HogVariant variant, int width) {
  return variant == HogVariant::opencv ? width & ~3 : width;
}

// Of gradients in the order in which ties are decided.
CUDAVISION_HOST_DEVICE inline void keep_longer(float dx, float dy, float *kept_x, float *kept_y,
                                               float *kept) {
  const float length = dx * dx + dy * dy;
  if (length > *kept) *kept = length, *kept_x = dx, *kept_y = dy;
}

// A block's normalisation needs one sum of its numbers, of l2_hys another one after the first scaling.
CUDAVISION_HOST_DEVICE inline float term_of(const Rules &rules, float v) {
  return rules.norm == HogNorm::l1 || rules.norm == HogNorm::l1_sqrt ? v : v * v;  // none is negative
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

Status check_run(const HogPicture &picture, Size made_for, int channels);

Status make_hog_cpu(const Execution &execution, Size size, int channels, HogParams params,
                    std::unique_ptr<Hog> *hog);
Status make_hog_cuda(const Execution &execution, Size size, int channels, HogParams params,
                     std::unique_ptr<Hog> *hog);

}  // namespace cudavision::hog
