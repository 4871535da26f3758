// SPDX-License-Identifier: LGPL-2.1-or-later
// The internal functions through which sigma2kp.cpp and the backends of the sigma^2 detector and of keypoint primitives
// reach each other.
#pragma once

#include <cstddef>

#include "cuda/common/backends.h"
#include "cuda/sigma2kp/point_primitives_rules.h"
#include "cuda/sigma2kp/sigma2kp_rules.h"

namespace cudavision::sigma2kp {

DetectorPlan make_detector_plan(Size image, const Sigma2KpParams &params);

// Returns true if both sets of parameters have the same plan.
inline bool same_plan(const Sigma2KpParams &a, const Sigma2KpParams &b) {
  return a.window == b.window && a.cell == b.cell && a.tau == b.tau && a.grids == b.grids &&
         a.definition == b.definition;
}

// The maximum number of keypoints of an image.
std::size_t max_keypoint_count(const DetectorPlan &plan);

// The checks of Sigma2Kp::run(): fails if the image does not have the size given to make_sigma2kp(), or if a
// parameter is invalid.
Status check_run(Size luma, Size made_for, const Sigma2KpParams &params);

decltype(make_sigma2kp) make_sigma2kp_cpu, make_sigma2kp_cuda;

Status make_point_primitives_cpu(const Execution &execution, Sigma2KpList list, int capacity,
                                 PointStyle style, LineEnds ends, Primitive *primitives, int *drawn);
decltype(make_point_primitives_cpu) make_point_primitives_cuda;

}  // namespace cudavision::sigma2kp
