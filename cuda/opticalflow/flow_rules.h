// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of Lucas-Kanade that both backends share: what is done with the sums over a window, in which
// order, so that both round alike.
//
// The integer-cell identity. Let n = floor(d) and f = d - n. Every pixel q of the window has the same f, and
// so
//   sum Ix (J(q + d) - I(q)) = (1 - fx)(1 - fy) E00 + fx (1 - fy) E10 + (1 - fx) fy E01 + fx fy E11
// with Eij = sum Ix (J(q + n + (i, j)) - I(q)): integers that stay the same as long as d stays in the cell
// [n, n + 1). |Ix| <= 16 * 255 and |J - I| <= 255, so of the largest window |E| < 31^2 * 4080 * 255 < 2^31.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/common/host_device.h"
#include "cuda/opticalflow/opticalflow.h"

namespace cudavision::opticalflow {

constexpr int kMaxRadius = kMaxFlowWindow / 2;

// Scharr's derivative, 32 times as large as the slope, from differences across the pixel: those of the row
// (or column) before it, of its own and of the one after.
CUDAVISION_HOST_DEVICE constexpr int scharr(int before, int here, int after) {
  return 3 * (before + after) + 10 * here;
}

// cv::pyrDown's weights 1 4 6 4 1, in x or in y; both passes together are rounded once, by 2^8.
CUDAVISION_HOST_DEVICE constexpr int smooth_5(int a, int b, int c, int d, int e) {
  return a + e + 4 * (b + d) + 6 * c;
}
CUDAVISION_HOST_DEVICE constexpr Size next_level(Size size) {
  return {(size.width + 1) / 2, (size.height + 1) / 2};
}
CUDAVISION_HOST_DEVICE constexpr int stride_of_level(int stride, int level) {
  return stride >> level > 1 ? stride >> level : 1;
}

// What of the parameters a level's work needs, as floats.
struct Rules {
  int window, iterations;
  float epsilon_squared, min_eigenvalue;
};

// S, in OpenCV's units: scaled by 2^-20.
struct Tensor {
  float xx, xy, yy;
};
CUDAVISION_HOST_DEVICE inline float scaled(long long sum) {
  return static_cast<float>(sum) * (1.0f / (1 << 20));
}

CUDAVISION_HOST_DEVICE inline float determinant(const Tensor &s) { return s.xx * s.yy - s.xy * s.xy; }

constexpr float kLeastDeterminant = 1.0f / (1 << 23);

// Whether the window has texture in two directions: otherwise d is not determined.
CUDAVISION_HOST_DEVICE inline bool is_trackable(const Tensor &s, const Rules &rules) {
  const float difference = s.xx - s.yy;
  const float root = sqrtf(difference * difference + 4.0f * s.xy * s.xy);
  const float eigenvalue = (s.yy + s.xx - root) / static_cast<float>(2 * rules.window * rules.window);
  return eigenvalue >= rules.min_eigenvalue && determinant(s) >= kLeastDeterminant;
}

// A cell of the grid of whole displacements, by its least corner.
struct Cell {
  int x, y;
};
CUDAVISION_HOST_DEVICE inline Cell cell_of(FlowVector d) {
  return {static_cast<int>(floorf(d.x)), static_cast<int>(floorf(d.y))};
}
CUDAVISION_HOST_DEVICE inline bool is_same_cell(const Cell &a, const Cell &b) {
  return a.x == b.x && a.y == b.y;
}

// How much of each corner of its cell is in d: w10 of the right one.
struct Weights {
  float w00, w10, w01, w11;
};
CUDAVISION_HOST_DEVICE inline Weights weights_of(FlowVector d) {
  const float fx = d.x - floorf(d.x), fy = d.y - floorf(d.y);
  const float gx = 1.0f - fx, gy = 1.0f - fy;
  return {gx * gy, fx * gy, gx * fy, fx * fy};
}

// Eij of one cell: x[2 j + i] with Ix, y with Iy.
struct CellSums {
  int x[4], y[4];
};

// The sums at d, in the units of the tensor: of J - I, 32 * 2^-20 times as large.
CUDAVISION_HOST_DEVICE inline FlowVector interpolate(const CellSums &e, FlowVector d) {
  constexpr float kScale = 1.0f / (1 << 15);
  const Weights w = weights_of(d);
  const auto sum = [&](const int(&s)[4]) {
    return ((w.w00 * static_cast<float>(s[0]) + w.w10 * static_cast<float>(s[1])) +
            (w.w01 * static_cast<float>(s[2]) + w.w11 * static_cast<float>(s[3]))) *
           kScale;
  };
  return {sum(e.x), sum(e.y)};
}

// A window of one level, around pixel (x, y).
struct Place {
  int x, y;
  Size size;  // of the level
};

// Whether some of the window around its pixels, displaced by d, lies in the picture, by OpenCV's count: its
// first column from -window to width - 1. Decided in float: no d is too long.
CUDAVISION_HOST_DEVICE inline bool reaches_picture(const Place &place, FlowVector d, int window) {
  const float left = static_cast<float>(place.x - window / 2) + floorf(d.x);
  const float top = static_cast<float>(place.y - window / 2) + floorf(d.y);
  const float least = static_cast<float>(-window);
  return left >= least && left < static_cast<float>(place.size.width) && top >= least &&
         top < static_cast<float>(place.size.height);
}

// The iteration of one pixel on one level, a step at a time, whoever finds the sums: start_tracking(), and
// step() while it is running.
struct Tracker {
  Tensor s;
  FlowVector d, last_step;
  int steps;
  bool running, valid;  // valid once it runs no more
};

CUDAVISION_HOST_DEVICE inline Tracker start_tracking(const Place &place, const Rules &rules, const Tensor &s,
                                                     FlowVector d) {
  return {s, d, {}, 0, is_trackable(s, rules) && reaches_picture(place, d, rules.window), false};
}

// b: sum (Ix, Iy) (J(q + d) - I(q)) in the units of the tensor.
CUDAVISION_HOST_DEVICE inline void step(const Place &place, const Rules &rules, FlowVector b, Tracker *t) {
  const Tensor &s = t->s;
  const float inverse = 1.0f / determinant(s);
  const FlowVector step{(s.xy * b.y - s.yy * b.x) * inverse, (s.xy * b.x - s.xx * b.y) * inverse};
  t->d = {t->d.x + step.x, t->d.y + step.y};
  bool arrived = step.x * step.x + step.y * step.y <= rules.epsilon_squared;
  if (!arrived && t->steps > 0 && fabsf(step.x + t->last_step.x) < 0.01f &&
      fabsf(step.y + t->last_step.y) < 0.01f) {
    t->d = {t->d.x - 0.5f * step.x, t->d.y - 0.5f * step.y};
    arrived = true;
  }
  t->last_step = step;
  t->valid = reaches_picture(place, t->d, rules.window);
  t->running = t->valid && !arrived && ++t->steps < rules.iterations;
}

// A level's flow: the vector of each stride-th pixel of a level of this size.
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

// Where the iteration at pixel (x, y) begins: twice the coarser flow at (x / 2, y / 2), bilinear. Pixels lie
// on the coarser ones or halfway between them; with a stride of 2 or more on them.
CUDAVISION_HOST_DEVICE inline FlowVector start_of(const Field &coarse, int x, int y) {
  if (coarse.vectors.data == nullptr) return {};
  const int right = (x + 1) / 2 < coarse.size.width ? (x + 1) / 2 : coarse.size.width - 1;
  const int below = (y + 1) / 2 < coarse.size.height ? (y + 1) / 2 : coarse.size.height - 1;
  const FlowVector *above = coarse.vectors.row(y / 2 / coarse.stride),
                   *under = coarse.vectors.row(below / coarse.stride);
  return between(above, under, x / 2 / coarse.stride, right / coarse.stride);
}

// Whether the flow of pixel (x, y), followed by the flow back from the pixel that it ends nearest to, ends
// within `distance` pixels. back: of stride 1.
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

Rules rules_of(const OpticalFlowParams &params);
// How many levels above the frame there are: no more than params.levels, and none that is not larger than the
// window.
int level_count(Size frame, const OpticalFlowParams &params);
// What OpticalFlow::run refuses.
Status check_run(Size luma, Size flow, Size valid, Size made_for, bool has_previous,
                 const OpticalFlowParams &params);

Status make_optical_flow_cpu(const Execution &execution, Size size, std::unique_ptr<OpticalFlow> *flow);
Status make_optical_flow_cuda(const Execution &execution, Size size, std::unique_ptr<OpticalFlow> *flow);

}  // namespace cudavision::opticalflow
