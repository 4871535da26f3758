// SPDX-License-Identifier: LGPL-2.1-or-later
// The width of drawn lines, which grows with the frame so that a picture can be read at any size.
#pragma once

#include <algorithm>

#include "cuda/common/image.h"

// For the descriptions of properties.
#define CUDAVISION_AUTOMATIC_WIDTH_WORDS "(0 = automatic, 1 for each 400 pixels of the frame's shorter side)"

namespace cudavision {

// The value of the properties line-width and point-size that stands for a width that suits the frame.
constexpr int kAutomaticWidth = 0;

// One pixel for each 400 pixels of the shorter side of the frame, at least one: 1 at 320x240, 3 at 1920x1080,
// 5 at 3840x2160.
constexpr int automatic_width(Size frame) {
  return std::max(1, (std::min(frame.width, frame.height) + 200) / 400);
}

// The width in pixels that the value of a property stands for.
constexpr int width_for(int value, Size frame) {
  return value == kAutomaticWidth ? automatic_width(frame) : value;
}

}  // namespace cudavision
