// SPDX-License-Identifier: LGPL-2.1-or-later
// The box around a detection that is turned by an angle.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cuda/common/image.h"

namespace cudavision {

// Returns the smallest box of whole pixels, parallel to the axes, that covers `box` turned by the angle, in radians,
// about its centre. If the angle is not finite, the result covers the box at any angle. A thousandth of a pixel is
// neglected, because angles are rounded: a quarter of a turn exchanges width and height. An empty box is not turned.
inline Region around_turned(const Region &box, double angle) {
  if (angle == 0 || box.width <= 0 || box.height <= 0) return box;
  const auto pixel = [](double value) {
    constexpr double kMost = std::numeric_limits<int>::max();
    return static_cast<int>(std::clamp(value, -kMost, kMost));
  };
  const auto edges = [&](int first, int length, double turned) {
    constexpr double kNeglected = 1e-3;
    const double middle = first + length / 2.0;
    const double from = std::floor(middle - turned / 2 + kNeglected),
                 to = std::ceil(middle + turned / 2 - kNeglected);
    return std::pair(pixel(from), pixel(to - from));
  };
  double width = std::hypot(box.width, box.height), height = width;
  if (std::isfinite(angle)) {
    const double cosine = std::abs(std::cos(angle)), sine = std::abs(std::sin(angle));
    width = cosine * box.width + sine * box.height, height = sine * box.width + cosine * box.height;
  }
  const auto [x, across] = edges(box.x, box.width, width);
  const auto [y, down] = edges(box.y, box.height, height);
  return {x, y, across, down};
}

}  // namespace cudavision
