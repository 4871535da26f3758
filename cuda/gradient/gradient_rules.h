// SPDX-License-Identifier: LGPL-2.1-or-later
// The definition of a pixel's gradient.
#pragma once

#include "cuda/common/host_device.h"
#include "cuda/gradient/gradient.h"

namespace cudavision {

// The gradient at a pixel. at(i, j) must return the value of the neighbour i columns to the right and j rows
// below the pixel; i and j are in [-1, 1].
template <typename At>
CUDAVISION_HOST_DEVICE Gradient gradient_of(GradientOperator op, const At &at) {
  if (op == GradientOperator::roberts) {
    // The differences along the diagonals (1, 1) and (1, -1). Their sum and their difference are the gradient's
    // components, which makes it sqrt(2) times as long as the vector of the two differences.
    const int falling = at(1, 1) - at(0, 0), rising = at(1, 0) - at(0, 1);
    return {falling + rising, falling - rising};
  }
  const int dx = at(1, 0) - at(-1, 0), dy = at(0, 1) - at(0, -1);
  if (op == GradientOperator::central) return {dx, dy};
  const auto [side, middle] = smoothing_weights(op);
  const int falling = at(1, 1) - at(-1, -1), rising = at(1, -1) - at(-1, 1);
  return {middle * dx + side * (falling + rising), middle * dy + side * (falling - rising)};
}

}  // namespace cudavision
