// SPDX-License-Identifier: LGPL-2.1-or-later
// The primitive of a line, shared by both backends.
#pragma once

#include "cuda/common/host_device.h"
#include "cuda/hough/line_primitives.h"

namespace cudavision::hough {

// Rounds a coordinate, which must not be negative, to the nearest pixel and adds the origin of the region.
CUDAVISION_HOST_DEVICE constexpr std::int16_t to_pixel(float coordinate, int origin) {
  return static_cast<std::int16_t>(origin + static_cast<int>(coordinate + 0.5f));
}

// The index of the colour, of `count` colours, for a line with the normal direction theta, from 0 to pi.
CUDAVISION_HOST_DEVICE constexpr int color_of_direction(float theta, int count) {
  const int part = static_cast<int>(theta * (static_cast<float>(count) / 3.14159265f));
  return part < count ? part : count - 1;
}

CUDAVISION_HOST_DEVICE constexpr Primitive primitive_of(const HoughLine &line, const LineStyle &style) {
  return {.kind = Primitive::Kind::line,
          .line_width = static_cast<std::uint8_t>(style.line_width),
          .color = style.color[color_of_direction(line.theta, style.color_count)],
          .x0 = to_pixel(line.x1, style.origin_x),
          .y0 = to_pixel(line.y1, style.origin_y),
          .x1 = to_pixel(line.x2, style.origin_x),
          .y1 = to_pixel(line.y2, style.origin_y)};
}

}  // namespace cudavision::hough
