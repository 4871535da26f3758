// SPDX-License-Identifier: LGPL-2.1-or-later
// The plan of a detection, which both backends follow: the scales of a picture, and the grids of blocks and
// windows at each scale.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/hog/hog_detector.h"
#include "cuda/hog/hog_detector_rules.h"

namespace cudavision::hog {

// One scale of the picture.
struct Level {
  double scale;
  Size size;        // the scaled picture in pixels
  HogShape blocks;  // the grid from the first to the last block of all windows
  Size windows;     // the number of windows in a row and in a column
};

// The blocks of all windows lie on one grid, whose spacing is the greatest common divisor of the block stride
// and the window stride.
struct DetectionPlan {
  HogParams params;  // those of the model, with the spacing of the grid as stride
  Size window;       // pixels
  int win_stride;    // pixels
  GridSteps grid;
  std::vector<Level> levels;
};
DetectionPlan make_detection_plan(Size size, const HogModel &model, const HogSearch &search);

// Returns the interpolation of cv::INTER_LINEAR_EXACT along one axis, from `from` to `to` elements. Each element of the
// result is 512 times the index of the first of two source elements, plus the weight (0 to 256) of the second one. See
// first_of_tap() and weight_of_tap() in hog_detector_rules.h.
std::vector<std::int32_t> resize_taps(int from, int to);

}  // namespace cudavision::hog
