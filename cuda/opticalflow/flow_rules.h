// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of Lucas-Kanade that both backends share: what is done with the sums over a window, in which order, so
// that both round alike.
//
// The integer-cell identity. Let n = floor(d) and f = d - n. Every pixel q of the window has the same f, and so
//   sum Ix (J(q + d) - I(q)) = (1 - fx)(1 - fy) E00 + fx (1 - fy) E10 + (1 - fx) fy E01 + fx fy E11
// with Eij = sum Ix (J(q + n + (i, j)) - I(q)): integers that stay the same as long as d stays in the cell [n, n + 1).
// |Ix| <= 16 * 255 and |J - I| <= 255, so of the largest window |E| < 31^2 * 4080 * 255 < 2^31.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/host_device.h"
#include "opticalflow/opticalflow.h"

namespace cudavision::opticalflow {

constexpr int kMaxRadius = kMaxFlowWindow / 2;

// Scharr's derivative in x of a 3 x 3 neighbourhood, 32 times as large as the slope; that in y is the same of the
// transposed one. at(dx, dy): the pixel beside the centre.
template <typename At>
CUDAVISION_HOST_DEVICE int scharr_x(const At &at) {
  return 3 * (at(1, -1) - at(-1, -1)) + 10 * (at(1, 0) - at(-1, 0)) + 3 * (at(1, 1) - at(-1, 1));
}
template <typename At>
CUDAVISION_HOST_DEVICE int scharr_y(const At &at) {
  return 3 * (at(-1, 1) - at(-1, -1)) + 10 * (at(0, 1) - at(0, -1)) + 3 * (at(1, 1) - at(1, -1));
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
CUDAVISION_HOST_DEVICE inline Tensor scaled_tensor(long long xx, long long xy, long long yy) {
  constexpr float kScale = 1.0f / (1 << 20);
  return {static_cast<float>(xx) * kScale, static_cast<float>(xy) * kScale, static_cast<float>(yy) * kScale};
}

CUDAVISION_HOST_DEVICE inline float determinant(const Tensor &s) { return s.xx * s.yy - s.xy * s.xy; }

// Whether the window has texture in two directions: otherwise d is not determined.
CUDAVISION_HOST_DEVICE inline bool is_trackable(const Tensor &s, const Rules &rules) {
  const float difference = s.xx - s.yy;
  const float root = sqrtf(difference * difference + 4.0f * s.xy * s.xy);
  const float eigenvalue = (s.yy + s.xx - root) / static_cast<float>(2 * rules.window * rules.window);
  return eigenvalue >= rules.min_eigenvalue && determinant(s) >= 1.1920929e-7f;  // 2^-23
}

// A whole displacement, and how far d lies beyond it: in [0, 1).
struct Cell {
  int x, y;
  float fx, fy;
};

// Eij of one cell: x[2 j + i] with Ix, y with Iy.
struct CellSums {
  int x[4], y[4];
};

// The sums at d, in the units of the tensor: of J - I, 32 * 2^-20 times as large.
CUDAVISION_HOST_DEVICE inline FlowVector interpolate(const CellSums &e, const Cell &cell) {
  constexpr float kScale = 1.0f / (1 << 15);
  const float gx = 1.0f - cell.fx, gy = 1.0f - cell.fy;
  const float w00 = gx * gy, w10 = cell.fx * gy, w01 = gx * cell.fy, w11 = cell.fx * cell.fy;
  const auto sum = [&](const int(&s)[4]) {
    return ((w00 * static_cast<float>(s[0]) + w10 * static_cast<float>(s[1])) +
            (w01 * static_cast<float>(s[2]) + w11 * static_cast<float>(s[3]))) *
           kScale;
  };
  return {sum(e.x), sum(e.y)};
}

// A window of one level, around pixel (x, y).
struct Place {
  int x, y;
  Size size;  // of the level
};

// The cell of d; false when the window around its pixels lies wholly outside the picture, by OpenCV's count: its first
// column less than -window or more than width - 1. Decided in float: no d is too long.
CUDAVISION_HOST_DEVICE inline bool find_cell(const Place &place, FlowVector d, int window, Cell *cell) {
  const float nx = floorf(d.x), ny = floorf(d.y);
  const float left = static_cast<float>(place.x - window / 2) + nx;
  const float top = static_cast<float>(place.y - window / 2) + ny;
  const float least = static_cast<float>(-window);
  if (!(left >= least && left < static_cast<float>(place.size.width) && top >= least &&
        top < static_cast<float>(place.size.height)))
    return false;
  *cell = {static_cast<int>(nx), static_cast<int>(ny), d.x - nx, d.y - ny};
  return true;
}

struct Track {
  FlowVector d;
  bool valid;
};

// The iteration on one level. mismatch(cell) gives sum (Ix, Iy) (J(q + d) - I(q)) in the units of the tensor.
template <typename Mismatch>
CUDAVISION_HOST_DEVICE inline Track track(const Place &place, const Tensor &s, FlowVector d,
                                          const Rules &rules, const Mismatch &mismatch) {
  if (!is_trackable(s, rules)) return {d, false};
  const float inverse = 1.0f / determinant(s);
  FlowVector before;
  Cell cell;
  for (int i = 0; i < rules.iterations; ++i) {
    if (!find_cell(place, d, rules.window, &cell)) return {d, false};
    const FlowVector b = mismatch(cell);
    const FlowVector step{(s.xy * b.y - s.yy * b.x) * inverse, (s.xy * b.x - s.xx * b.y) * inverse};
    d = {d.x + step.x, d.y + step.y};
    if (step.x * step.x + step.y * step.y <= rules.epsilon_squared) break;
    if (i > 0 && fabsf(step.x + before.x) < 0.01f && fabsf(step.y + before.y) < 0.01f) {
      d = {d.x - 0.5f * step.x, d.y - 0.5f * step.y};
      break;
    }
    before = step;
  }
  return {d, find_cell(place, d, rules.window, &cell)};
}

// A level's flow: the vector of each stride-th pixel of a level of this size.
struct Field {
  ImageView<FlowVector> vectors;
  Size size;
  int stride;
};

// Where the iteration at pixel (x, y) begins: twice the coarser flow at (x / 2, y / 2), bilinear. Pixels lie on the coarser
// ones or halfway between them; with a stride of 2 or more on them.
CUDAVISION_HOST_DEVICE inline FlowVector start_of(const Field &coarse, int x, int y) {
  if (coarse.vectors.data == nullptr) return {};
  const int right = (x + 1) / 2 < coarse.size.width ? (x + 1) / 2 : coarse.size.width - 1;
  const int below = (y + 1) / 2 < coarse.size.height ? (y + 1) / 2 : coarse.size.height - 1;
  const auto at = [&](int cx, int cy) { return coarse.vectors.row(cy / coarse.stride)[cx / coarse.stride]; };
  const FlowVector a = at(x / 2, y / 2), b = at(right, y / 2), c = at(x / 2, below), d = at(right, below);
  return {((a.x + b.x) + (c.x + d.x)) * 0.5f, ((a.y + b.y) + (c.y + d.y)) * 0.5f};
}

// Whether the flow of pixel (x, y), followed by the flow back from the pixel that it ends nearest to, ends within
// `distance` pixels. back: of stride 1.
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
// How many levels above the frame there are: no more than params.levels, and none that is not larger than the window.
int level_count(Size frame, const OpticalFlowParams &params);
// What OpticalFlow::run refuses.
Status check_run(Size luma, Size flow, Size valid, Size made_for, bool has_previous,
                 const OpticalFlowParams &params);

Status make_optical_flow_cpu(const Execution &execution, Size size, std::unique_ptr<OpticalFlow> *flow);
Status make_optical_flow_cuda(const Execution &execution, Size size, std::unique_ptr<OpticalFlow> *flow);

}  // namespace cudavision::opticalflow
