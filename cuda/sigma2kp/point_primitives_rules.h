// SPDX-License-Identifier: LGPL-2.1-or-later
// The primitives of a keypoint, for both backends.
#pragma once

#include "cuda/common/host_device.h"
#include "cuda/gradient/orientation.h"
#include "cuda/sigma2kp/point_primitives.h"

namespace cudavision::sigma2kp {

constexpr int kReach = 4;  // of an orientation's line, in sizes

// Where lines of orientations end, from the keypoint: by value, small enough for a kernel's argument.
struct LineEnds {
  std::int16_t x[kMaxOrientations], y[kMaxOrientations];
};

CUDAVISION_HOST_DEVICE inline void make_primitives(const Sigma2Keypoint &point, const PointStyle &style,
                                                   const LineEnds &ends, Primitive primitives[2]) {
  const int x = style.origin_x + point.x + (style.window - 1) / 2;
  const int y = style.origin_y + point.y + (style.window - 1) / 2;
  if (point.orientation == kNoOrientation) {
    primitives[0] =
        make_primitive(Primitive::Kind::cross, style.line_width, style.color, x, y, style.size, 0);
    primitives[1] = hidden_primitive(style.color);
    return;
  }
  const int width = 3 * style.line_width < 255 ? 3 * style.line_width : 255;
  primitives[0] = make_primitive(Primitive::Kind::point, width, style.color, x, y, 0, 0);
  primitives[1] = make_primitive(Primitive::Kind::line, style.line_width, style.color, x, y,
                                 x + ends.x[point.orientation], y + ends.y[point.orientation]);
}

Status make_point_primitives_cpu(const Execution &execution, Sigma2List list, int capacity, PointStyle style,
                                 LineEnds ends, Primitive *primitives, int *drawn);
Status make_point_primitives_cuda(const Execution &execution, Sigma2List list, int capacity, PointStyle style,
                                  LineEnds ends, Primitive *primitives, int *drawn);

}  // namespace cudavision::sigma2kp
