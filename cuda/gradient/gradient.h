// SPDX-License-Identifier: LGPL-2.1-or-later
// Integer image gradients: the classic operators, for both backends.
//
// A gradient points to where the picture becomes brighter, x right and y down. Outside the picture its border
// pixels are repeated (BORDER_REPLICATE), so that every pixel has a gradient. Components are in units of the
// operator: nothing is divided, nothing rounded.
#pragma once

#include <cstdint>

#include "cuda/common/host_device.h"
#include "cuda/common/image.h"

namespace cudavision {

enum class GradientOperator {
  sobel,    // 3x3, smoothed by 1 2 1
  central,  // I(x + 1) - I(x - 1): of the pixel's own row and column
  scharr,   // 3x3, smoothed by 3 10 3
  prewitt,  // 3x3, smoothed by 1 1 1
  roberts,  // the two diagonals of the 2x2 pixels right of and below the pixel, turned by 45 degrees to dx,
            // dy
};

struct Gradient {
  int dx = 0, dy = 0;

  friend bool operator==(const Gradient &, const Gradient &) = default;
};

// The largest |dx| and |dy| of a picture of bytes.
CUDAVISION_HOST_DEVICE constexpr int largest_component(GradientOperator op) {
  constexpr int kSums[] = {4, 1, 16, 3, 2};  // of the weights that dx has on one side
  return 255 * kSums[static_cast<int>(op)];
}

// The gradient at a pixel. at(i, j) is the value of its neighbour i columns to the right and j rows below, -1
// to 1 each.
template <typename At>
CUDAVISION_HOST_DEVICE Gradient gradient_of(GradientOperator op, const At &at) {
  if (op == GradientOperator::roberts) {
    // Along the diagonals (1, 1) and (1, -1); their sum and difference are the components, sqrt(2) times as
    // long as the diagonals' own vector.
    const int falling = at(1, 1) - at(0, 0), rising = at(1, 0) - at(0, 1);
    return {falling + rising, falling - rising};
  }
  const int dx = at(1, 0) - at(-1, 0), dy = at(0, 1) - at(0, -1);
  if (op == GradientOperator::central) return {dx, dy};
  const int side = op == GradientOperator::scharr ? 3 : 1;
  const int middle = op == GradientOperator::sobel ? 2 : op == GradientOperator::scharr ? 10 : 1;
  const int falling = at(1, 1) - at(-1, -1), rising = at(1, -1) - at(-1, 1);
  return {middle * dx + side * (falling + rising), middle * dy + side * (falling - rising)};
}

}  // namespace cudavision
