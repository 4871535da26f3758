// SPDX-License-Identifier: LGPL-2.1-or-later
// The weights with which the pixels of a block vote for its cells.
#include <algorithm>
#include <cmath>

#include "cuda/hog/hog_backends.h"

namespace cudavision::hog {
namespace {

// The standard deviation of the Gaussian, in pixels.
double sigma_of(const HogParams &params) {
  return params.sigma > 0 ? params.sigma : (params.block.width + params.block.height) / 8.0;
}

std::vector<float> axis_weights(int cell, int side, HogVariant variant, double sigma) {
  std::vector<float> weights;
  for (int c = 0; c < side / cell; ++c)
    for (int i = 0; i < side; ++i) {
      double weight = i / cell == c ? 1 : 0;
      if (variant == HogVariant::opencv) {
        // Linear interpolation: 1 at the centre of the cell, 0 at the centres of its neighbours. The centre
        // of the Gaussian is half a pixel beside the centre of the block, as in OpenCV.
        const double off = i - side * 0.5;
        weight = std::max(0.0, 1 - std::abs((i + 0.5) / cell - 0.5 - c)) *
                 std::exp(-off * off / (2 * sigma * sigma));
      }
      weights.push_back(static_cast<float>(weight));
    }
  return weights;
}

}  // namespace

std::vector<float> axis_weights_x(const HogParams &params) {
  return axis_weights(params.cell.width, params.block.width, params.variant, sigma_of(params));
}
std::vector<float> axis_weights_y(const HogParams &params) {
  return axis_weights(params.cell.height, params.block.height, params.variant, sigma_of(params));
}

}  // namespace cudavision::hog
