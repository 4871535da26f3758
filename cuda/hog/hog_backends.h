// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of HOG, of the detector, and of boxes and stars as primitives; and the host code that they share.
#pragma once

#include <vector>

#include "cuda/common/backends.h"
#include "cuda/hog/hog_detector.h"
#include "cuda/hog/hog_primitives_rules.h"
#include "cuda/hog/hog_rules.h"

namespace cudavision::hog {

Rules rules_of(const HogParams &params);

// The weights with which the pixels of a block vote for its cells, along one axis: [cell][pixel of the block]. They are
// separable: the weight of a pixel for a cell is the product of one weight per axis.
std::vector<float> axis_weights_x(const HogParams &params), axis_weights_y(const HogParams &params);

// Fails if the picture does not have the size `made_for` and `channels` channels, or if a channel is subsampled or
// differs from channel 0 in pitch or step.
Status check_run(const HogPicture &picture, Size made_for, int channels);

decltype(make_hog) make_hog_cpu, make_hog_cuda;
decltype(make_hog_detector) make_hog_detector_cpu, make_hog_detector_cuda;

Status make_box_primitives_cpu(const Execution &execution, HogBoxList list, int capacity, BoxDrawing drawing);
decltype(make_box_primitives_cpu) make_box_primitives_cuda;
Status make_star_primitives_cpu(const Execution &execution, StarTask task, Primitive *primitives);
Status make_star_primitives_cuda(const Execution &execution, StarTask task, Primitive *primitives);

}  // namespace cudavision::hog
