// SPDX-License-Identifier: LGPL-2.1-or-later
// Internal functions of optical flow: the factories of both backends, and the checks that both backends make.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/opticalflow/flow_rules.h"
#include "cuda/opticalflow/opticalflow.h"

namespace cudavision::opticalflow {

TrackingRules rules_of(const OpticalFlowParams &params);
// The number of levels above the frame: at most params.levels, and only levels larger than the window.
int level_count(Size frame, const OpticalFlowParams &params);
// The largest level_count() of a frame with any parameters: scratch memory is allocated for so many levels.
int max_level_count(Size frame);
// Checks the arguments of OpticalFlow::run.
Status check_run(Size luma, Size flow, Size valid, Size made_for, bool has_previous,
                 const OpticalFlowParams &params, const Places &places);

Status make_opticalflow_cpu(const Execution &execution, Size size, std::unique_ptr<OpticalFlow> *flow);
Status make_opticalflow_cuda(const Execution &execution, Size size, std::unique_ptr<OpticalFlow> *flow);

}  // namespace cudavision::opticalflow
