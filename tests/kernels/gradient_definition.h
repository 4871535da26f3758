// SPDX-License-Identifier: LGPL-2.1-or-later
// The definitions of gradients (masks) and of their orientation bins (angles in long double).
#pragma once

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "cuda/gradient/gradient.h"
#include "tests/support/picture.h"

namespace cudavision::test {

inline constexpr GradientOperator kOperators[] = {GradientOperator::sobel, GradientOperator::central,
                                                  GradientOperator::scharr, GradientOperator::prewitt,
                                                  GradientOperator::roberts};

// The mask of dx for each operator, in the order of GradientOperator. The mask of dy is its transpose.
inline constexpr int kMasks[][3][3] = {{{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}},
                                       {{0, 0, 0}, {-1, 0, 1}, {0, 0, 0}},
                                       {{-3, 0, 3}, {-10, 0, 10}, {-3, 0, 3}},
                                       {{-1, 0, 1}, {-1, 0, 1}, {-1, 0, 1}},
                                       {{0, 0, 0}, {0, -1, 1}, {0, -1, 1}}};

inline Gradient defined_gradient(const Picture &picture, int x, int y, GradientOperator op) {
  Gradient g;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i) {
      const int value = picture.at(clamp_index(x + i, picture.width()), clamp_index(y + j, picture.height()));
      g.dx += kMasks[static_cast<int>(op)][j + 1][i + 1] * value;
      g.dy += kMasks[static_cast<int>(op)][i + 1][j + 1] * value;
    }
  return g;
}

// floor(angle * bins / 360 degrees). Multiples of 45 degrees are computed in integers. No other edge of a bin has the
// direction of an integer gradient, and the precision of long double suffices to decide all other gradients.
inline int defined_bin(int dx, int dy, int bins) {
  if (dx == 0 || dy == 0 || std::abs(dx) == std::abs(dy)) {
    const int eighths[3][3] = {{5, 6, 7}, {4, 0, 0}, {3, 2, 1}};
    return eighths[(dy > 0) - (dy < 0) + 1][(dx > 0) - (dx < 0) + 1] * bins / 8;
  }
  const long double turn = std::atan2(static_cast<long double>(dy), static_cast<long double>(dx)) /
                           (2 * std::numbers::pi_v<long double>);
  return static_cast<int>(std::floor((turn < 0 ? turn + 1 : turn) * bins));
}

}  // namespace cudavision::test
