// SPDX-License-Identifier: LGPL-2.1-or-later
// The primitive of a line, for both backends.
#pragma once

#include "cuda/common/host_device.h"
#include "cuda/hough/line_primitives.h"

namespace cudavision::hough {

CUDAVISION_HOST_DEVICE constexpr std::int16_t to_pixel(float coordinate,
                                                       int origin) {  // coordinate: 0 or more
  return static_cast<std::int16_t>(origin + static_cast<int>(coordinate + 0.5f));
}

CUDAVISION_HOST_DEVICE constexpr Primitive primitive_of(const HoughLine &line, const LineStyle &style) {
  return {Primitive::Kind::line,
          static_cast<std::uint8_t>(style.line_width),
          style.color,
          to_pixel(line.x1, style.origin_x),
          to_pixel(line.y1, style.origin_y),
          to_pixel(line.x2, style.origin_x),
          to_pixel(line.y2, style.origin_y)};
}

Status make_line_primitives_cpu(const Execution &execution, HoughList list, int capacity, LineStyle style,
                                Primitive *primitives);
Status make_line_primitives_cuda(const Execution &execution, HoughList list, int capacity, LineStyle style,
                                 Primitive *primitives);

}  // namespace cudavision::hough
