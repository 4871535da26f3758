// SPDX-License-Identifier: LGPL-2.1-or-later
// Internal functions of optical flow and of its display: the backends, and the checks that both backends make.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/opticalflow/flow_display.h"
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

decltype(make_opticalflow) make_opticalflow_cpu, make_opticalflow_cuda;
decltype(draw_flow_wheel) draw_flow_wheel_cpu, draw_flow_wheel_cuda;
decltype(make_flow_arrows) make_flow_arrows_cpu, make_flow_arrows_cuda;

}  // namespace cudavision::opticalflow
