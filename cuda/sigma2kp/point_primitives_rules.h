// SPDX-License-Identifier: LGPL-2.1-or-later
// The primitives of a keypoint, shared by both backends.
#pragma once

#include "cuda/common/host_device.h"
#include "cuda/gradient/orientation.h"
#include "cuda/sigma2kp/point_primitives.h"

namespace cudavision::sigma2kp {

// The length of the line of an orientation in multiples of PointStyle::size.
constexpr int kReach = 4;

// The end of the line of each orientation bin, relative to the keypoint. Small enough to be a kernel
// argument.
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

}  // namespace cudavision::sigma2kp
