// SPDX-License-Identifier: LGPL-2.1-or-later
// Integer image gradients by the classic operators, for both backends.
//
// A gradient points toward brighter pixels; x grows to the right and y downward. Outside the picture its
// border pixels are replicated (BORDER_REPLICATE), so that every pixel has a gradient. Components are in
// units of the operator, without division or rounding.
#pragma once

#include <cstdint>

#include "cuda/common/host_device.h"
#include "cuda/common/image.h"

namespace cudavision {

enum class GradientOperator {
  sobel,    // 3x3, smoothed by 1 2 1
  central,  // I(x + 1, y) - I(x - 1, y) and I(x, y + 1) - I(x, y - 1)
  scharr,   // 3x3, smoothed by 3 10 3
  prewitt,  // 3x3, smoothed by 1 1 1
  // The differences along the two diagonals of the 2x2 pixels whose top left one is the pixel, rotated by 45
  // degrees to dx and dy.
  roberts,
};

// The weight of a gradient g.
enum class GradientWeight {
  count,           // 1
  magnitude,       // |g|; in fixed point round(16 |g|)
  sqrt_magnitude,  // sqrt(|g|); in fixed point round(512 sqrt(|g|))
};

// The most bins of a histogram of orientations.
constexpr int kMaxOrientations = 360;

struct Gradient {
  int dx = 0, dy = 0;

  friend bool operator==(const Gradient &, const Gradient &) = default;
};

// The largest possible |dx| and |dy| for 8-bit pictures.
CUDAVISION_HOST_DEVICE constexpr int largest_component(GradientOperator op) {
  constexpr int kSums[] = {4, 1, 16, 3, 2};  // the sum of the positive weights of dx, by operator
  return 255 * kSums[static_cast<int>(op)];
}

// The weights by which an operator other than Roberts' smooths its differences: side, middle, side.
struct SmoothingWeights {
  int side, middle;
};
CUDAVISION_HOST_DEVICE constexpr SmoothingWeights smoothing_weights(GradientOperator op) {
  switch (op) {
    case GradientOperator::sobel:
      return {1, 2};
    case GradientOperator::scharr:
      return {3, 10};
    case GradientOperator::prewitt:
      return {1, 1};
    default:
      return {0, 1};
  }
}

}  // namespace cudavision
