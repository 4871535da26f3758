// SPDX-License-Identifier: LGPL-2.1-or-later
// The primitives of a keypoint, shared by both backends.
#pragma once

#include <cmath>

#include "cuda/common/host_device.h"
#include "cuda/gradient/orientation_rules.h"
#include "cuda/sigma2kp/point_primitives.h"

namespace cudavision::sigma2kp {

// The length of the line of an orientation in multiples of PointStyle::size.
constexpr int kReach = 4;

// The end of the line of each orientation bin, relative to the keypoint. Small enough to be a kernel
// argument.
struct LineEnds {
  std::int16_t x[kMaxOrientations], y[kMaxOrientations];
};

// The standard deviation of a window in grey levels. It is computed from variance_of(), the value that is attached to
// frames, so that keypoints look the same whichever element draws them.
CUDAVISION_HOST_DEVICE inline float deviation_of(const Sigma2Keypoint &point, int window) {
  return sqrtf(static_cast<float>(variance_of(point.strength, window)));
}

// The factor by which the arms and lines of a keypoint are longer than PointStyle::size says.
CUDAVISION_HOST_DEVICE inline float growth_of(float deviation, const PointStyle &style) {
  const float growth = deviation / 32;
  return !style.grows || growth < 1 ? 1.0f : growth < 3 ? growth : 3.0f;
}

CUDAVISION_HOST_DEVICE inline int grown(int length, float growth) {
  const float size = static_cast<float>(length) * growth;
  return static_cast<int>(size < 0 ? size - 0.5f : size + 0.5f);
}

// A keypoint as it is drawn, in pixels of the frame.
struct DrawnPoint {
  int x, y;
  float deviation;
  bool has_direction;
  int end_x, end_y;  // the end of the line of its direction, relative to (x, y)
};

CUDAVISION_HOST_DEVICE inline void make_primitives(const DrawnPoint &point, const PointStyle &style,
                                                   Primitive primitives[2]) {
  const int x = point.x, y = point.y;
  const float growth = growth_of(point.deviation, style);
  if (point.deviation < style.least_deviation) {
    primitives[0] = primitives[1] = hidden_primitive(style.color);
    return;
  }
  if (!point.has_direction) {
    primitives[0] = make_primitive(Primitive::Kind::cross, style.line_width, style.color, x, y,
                                   grown(style.size, growth), 0);
    primitives[1] = hidden_primitive(style.color);
    return;
  }
  const int width = 3 * style.line_width < 255 ? 3 * style.line_width : 255;
  primitives[0] = make_primitive(Primitive::Kind::point, width, style.color, x, y, 0, 0);
  primitives[1] = make_primitive(Primitive::Kind::line, style.line_width, style.color, x, y,
                                 x + grown(point.end_x, growth), y + grown(point.end_y, growth));
}

CUDAVISION_HOST_DEVICE inline void make_primitives(const Sigma2Keypoint &point, const PointStyle &style,
                                                   const LineEnds &ends, Primitive primitives[2]) {
  const bool has_direction = point.orientation != kNoOrientation;
  const int bin = has_direction ? point.orientation : 0, to_centre = (style.window - 1) / 2;
  make_primitives(DrawnPoint{style.origin_x + point.x + to_centre, style.origin_y + point.y + to_centre,
                             deviation_of(point, style.window), has_direction, ends.x[bin], ends.y[bin]},
                  style, primitives);
}

}  // namespace cudavision::sigma2kp
