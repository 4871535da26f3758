// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of Lucas-Kanade that both backends share: everything that is computed from the sums over a
// window, in a fixed order of operations, so that both backends round in the same way.
//
// The displacements d with the same floor(d) form a cell, and the same sums serve all displacements of a cell: let
// n = floor(d) and f = d - n. All pixels q of the window have the same f, and therefore
//   sum Ix (J(q + d) - I(q)) = (1 - fx)(1 - fy) E00 + fx (1 - fy) E10 + (1 - fx) fy E01 + fx fy E11
// with Eij = sum Ix (J(q + n + (i, j)) - I(q)). The Eij are integers and do not change while d stays in the
// cell [n, n + 1). They fit 32 bits: |Ix| <= 16 * 255 and |J - I| <= 255, and for the largest window |E| <=
// 31^2 * 4080 * 255 < 2^31.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/common/host_device.h"
#include "cuda/common/normal_math_rules.h"
#include "cuda/opticalflow/opticalflow.h"

namespace cudavision::opticalflow {

constexpr int kMaxRadius = OpticalFlowRanges::window_size.most / 2;

// --- derivatives and pyramid ---

// The Scharr derivative in one direction, which is 32 times the slope. The arguments are the differences
// across the pixel in the row (or column) before it, in its own and in the one after it.
CUDAVISION_HOST_DEVICE constexpr int scharr(int before, int here, int after) {
  return 3 * (before + after) + 10 * here;
}

// One pass of cv::pyrDown with the weights 1 4 6 4 1. After both passes the sum is divided by 2^8 and rounded, once.
CUDAVISION_HOST_DEVICE constexpr int smooth_5(int a, int b, int c, int d, int e) {
  return a + e + 4 * (b + d) + 6 * c;
}
CUDAVISION_HOST_DEVICE constexpr Size next_level(Size size) {
  return {(size.width + 1) / 2, (size.height + 1) / 2};
}
// The stride of the vectors on a level: halved from level to level, at least 1.
CUDAVISION_HOST_DEVICE constexpr int stride_of_level(int stride, int level) {
  return stride >> level > 1 ? stride >> level : 1;
}

// --- the structure tensor ---

// The parameters that the iteration uses, as floats.
struct TrackingRules {
  int window, iterations;
  float epsilon_squared, min_eigenvalue;
};

// The structure tensor S of a window, scaled by 2^-20 as in OpenCV.
struct StructureTensor {
  float xx, xy, yy;
};
CUDAVISION_HOST_DEVICE inline float scaled(long long sum) {
  return static_cast<float>(sum) * (1.0f / (1 << 20));
}

CUDAVISION_HOST_DEVICE inline float determinant(const StructureTensor &s) {
  return s.xx * s.yy - s.xy * s.xy;
}

constexpr float kMinDeterminant = 1.0f / (1 << 23);

// True if the window has texture in two directions; otherwise d is not determined.
CUDAVISION_HOST_DEVICE inline bool is_trackable(const StructureTensor &s, const TrackingRules &rules) {
  const float difference = s.xx - s.yy;
  const float root = normal_root(difference * difference + 4.0f * s.xy * s.xy);
  const float eigenvalue =
      normal_quotient(s.yy + s.xx - root, static_cast<float>(2 * rules.window * rules.window));
  return eigenvalue >= rules.min_eigenvalue && determinant(s) >= kMinDeterminant;
}

// --- cells of displacements ---

// The cell [x, x + 1) x [y, y + 1) of displacements.
struct DisplacementCell {
  int x, y;
};
// The upper left corner of the cell of d.
CUDAVISION_HOST_DEVICE inline FlowVector corner_of(FlowVector d) { return {floorf(d.x), floorf(d.y)}; }
CUDAVISION_HOST_DEVICE inline DisplacementCell cell_of(FlowVector d) {
  const FlowVector corner = corner_of(d);
  return {static_cast<int>(corner.x), static_cast<int>(corner.y)};
}
CUDAVISION_HOST_DEVICE inline bool is_same_cell(const DisplacementCell &a, const DisplacementCell &b) {
  return a.x == b.x && a.y == b.y;
}

// The bilinear weights of the four corners of the cell of d; w10 belongs to the right corner. corner: corner_of(d).
struct Weights {
  float w00, w10, w01, w11;
};
CUDAVISION_HOST_DEVICE inline Weights weights_of(FlowVector d, FlowVector corner) {
  const float fx = d.x - corner.x, fy = d.y - corner.y;
  const float gx = 1.0f - fx, gy = 1.0f - fy;
  return {gx * gy, fx * gy, gx * fy, fx * fy};
}

// The Eij of one cell: element 2 j + i of x is the sum with Ix, and of y the sum with Iy. T: int, or float if
// converted.
template <typename T>
struct BasicCellSums {
  T x[4], y[4];
};
using CellSums = BasicCellSums<int>;
using FloatCellSums = BasicCellSums<float>;

// The sums at d, interpolated between the corners of its cell; corner: corner_of(d). They are multiplied by 2^-15, and
// those of S by 2^-20, because S sums products of two derivatives, of which each is 32 times a slope.
template <typename T>
CUDAVISION_HOST_DEVICE FlowVector interpolate(const BasicCellSums<T> &e, FlowVector d, FlowVector corner) {
  constexpr float kScale = 1.0f / (1 << 15);
  const Weights w = weights_of(d, corner);
  const auto sum = [&](const T(&s)[4]) {
    return ((w.w00 * static_cast<float>(s[0]) + w.w10 * static_cast<float>(s[1])) +
            (w.w01 * static_cast<float>(s[2]) + w.w11 * static_cast<float>(s[3]))) *
           kScale;
  };
  return {sum(e.x), sum(e.y)};
}

// --- the iteration of one pixel ---

// Pixel (x, y) of a level, and the size of that level.
struct Place {
  int x, y;
  Size size;
};

// True if the window, displaced by a vector in the cell with this corner, overlaps the picture by OpenCV's rule: its
// first column is at least -window and less than the width, and its first row likewise. Computed in float, which cannot
// overflow for a long vector.
CUDAVISION_HOST_DEVICE inline bool cell_reaches_picture(const Place &place, FlowVector corner, int window) {
  const float left = static_cast<float>(place.x - window / 2) + corner.x;
  const float top = static_cast<float>(place.y - window / 2) + corner.y;
  const float least = static_cast<float>(-window);
  return left >= least && left < static_cast<float>(place.size.width) && top >= least &&
         top < static_cast<float>(place.size.height);
}
CUDAVISION_HOST_DEVICE inline bool reaches_picture(const Place &place, FlowVector d, int window) {
  return cell_reaches_picture(place, corner_of(d), window);
}

// The state of one pixel's iteration on one level. start_tracking() makes it; the caller computes the sums and calls
// step() as long as `running` is set. `valid` has a meaning only after the last step.
struct Tracker {
  StructureTensor s;
  FlowVector d, last_step;
  int steps;
  bool running, valid;
};

CUDAVISION_HOST_DEVICE inline Tracker start_tracking(const Place &place, const TrackingRules &rules,
                                                     const StructureTensor &s, FlowVector d) {
  return {.s = s,
          .d = d,
          .last_step = {},
          .steps = 0,
          .running = is_trackable(s, rules) && reaches_picture(place, d, rules.window),
          .valid = false};
}

// Makes one step, and returns corner_of() the new d. b: the sum of (Ix, Iy) (J(q + d) - I(q)), as of interpolate().
CUDAVISION_HOST_DEVICE inline FlowVector step(const Place &place, const TrackingRules &rules, FlowVector b,
                                              Tracker *t) {
  const StructureTensor &s = t->s;
  const float inverse = normal_inverse(determinant(s));  // at least kMinDeterminant
  const FlowVector step{(s.xy * b.y - s.yy * b.x) * inverse, (s.xy * b.x - s.xx * b.y) * inverse};
  t->d = {t->d.x + step.x, t->d.y + step.y};
  bool arrived = step.x * step.x + step.y * step.y <= rules.epsilon_squared;
  if (!arrived && t->steps > 0 && fabsf(step.x + t->last_step.x) < 0.01f &&
      fabsf(step.y + t->last_step.y) < 0.01f) {
    t->d = {t->d.x - 0.5f * step.x, t->d.y - 0.5f * step.y};
    arrived = true;
  }
  t->last_step = step;
  const FlowVector corner = corner_of(t->d);
  t->valid = cell_reaches_picture(place, corner, rules.window);
  t->running = t->valid && !arrived && ++t->steps < rules.iterations;
  return corner;
}

// --- fields of vectors ---

// The flow of one level: one vector for every stride-th column and row of a level of this size.
struct Field {
  ImageView<FlowVector> vectors;
  Size size;
  int stride;
};

// Twice the mean of four vectors.
CUDAVISION_HOST_DEVICE inline FlowVector between(const FlowVector *above, const FlowVector *below, int left,
                                                 int right) {
  const FlowVector a = above[left], b = above[right], c = below[left], d = below[right];
  return {((a.x + b.x) + (c.x + d.x)) * 0.5f, ((a.y + b.y) + (c.y + d.y)) * 0.5f};
}

// The start of the iteration at pixel (x, y): twice the coarser flow at (x / 2, y / 2), interpolated
// bilinearly; zero if there is no coarser flow. Such a point is a pixel of the coarser level or lies halfway
// between two; with a stride of at least 2 it is always a pixel.
CUDAVISION_HOST_DEVICE inline FlowVector start_of(const Field &coarse, int x, int y) {
  if (coarse.vectors.data == nullptr) return {};
  const int right = (x + 1) / 2 < coarse.size.width ? (x + 1) / 2 : coarse.size.width - 1;
  const int below = (y + 1) / 2 < coarse.size.height ? (y + 1) / 2 : coarse.size.height - 1;
  const FlowVector *above = coarse.vectors.row(y / 2 / coarse.stride),
                   *under = coarse.vectors.row(below / coarse.stride);
  return between(above, under, x / 2 / coarse.stride, right / coarse.stride);
}

// --- the places of a frame where vectors are wanted ---

// Returns the regions of a level, in pixels of that level, whose vectors the vectors in `places` depend on: start_of()
// reads them, level by level. places: in pixels of the frame. frame: its size. stride: of the vectors of the frame.
Places places_on_level(Places places, Size frame, int stride, int level);

// The pixels from the first to the last vector of a part of a field. part: in vectors.
CUDAVISION_HOST_DEVICE constexpr Region pixels_of(const Region &part, int stride) {
  return {part.x * stride, part.y * stride, (part.width - 1) * stride + 1, (part.height - 1) * stride + 1};
}

// The forward-backward check of pixel (x, y) with vector d: true if d plus the backward vector at the pixel
// nearest to (x, y) + d is at most `distance` pixels long. `back` has stride 1.
CUDAVISION_HOST_DEVICE inline bool comes_back(int x, int y, FlowVector d, ImageView<const FlowVector> back,
                                              float distance) {
  const float end_x = floorf(static_cast<float>(x) + d.x + 0.5f),
              end_y = floorf(static_cast<float>(y) + d.y + 0.5f);
  if (!(end_x >= 0.0f && end_y >= 0.0f && end_x < static_cast<float>(back.width) &&
        end_y < static_cast<float>(back.height)))
    return false;
  const FlowVector b = back.row(static_cast<int>(end_y))[static_cast<int>(end_x)];
  const float dx = d.x + b.x, dy = d.y + b.y;
  return dx * dx + dy * dy <= distance * distance;
}

}  // namespace cudavision::opticalflow
