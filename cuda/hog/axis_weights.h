// SPDX-License-Identifier: LGPL-2.1-or-later
// The weights with which the pixels of a block vote for its cells. They are separable: the weight of a pixel for a cell
// is the product of one weight per axis.
#pragma once

#include <vector>

#include "cuda/hog/hog.h"

namespace cudavision::hog {

// The weights along one axis of a block. The pixels [begin[c], end[c]) of the block vote for cell c, with the
// weights weight[c * side + pixel]; all other weights are 0.
struct AxisWeights {
  int side = 0, cells = 0;  // the length of the block in pixels and in cells
  std::vector<int> begin, end;
  std::vector<float> weight;
};
AxisWeights axis_weights_x(const HogParams &params);
AxisWeights axis_weights_y(const HogParams &params);

}  // namespace cudavision::hog
