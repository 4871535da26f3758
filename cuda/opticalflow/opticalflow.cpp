// SPDX-License-Identifier: LGPL-2.1-or-later
// What both backends of the optical flow share: checks, the number of levels and the choice of a backend.
#include "cuda/opticalflow/opticalflow.h"

#include <cmath>

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/opticalflow/flow_rules.h"

namespace cudavision {

Status validate(const OpticalFlowParams &params) {
  CUDAVISION_TRY(check_range("window-size", params.window_size, kMinFlowWindow, kMaxFlowWindow));
  if (params.window_size % 2 == 0)
    return invalid_argument("window-size must be odd, not " + std::to_string(params.window_size));
  CUDAVISION_TRY(check_range("levels", params.levels, 0, kMaxFlowLevels));
  CUDAVISION_TRY(check_range("iterations", params.iterations, 1, kMaxFlowIterations));
  CUDAVISION_TRY(check_range("epsilon", params.epsilon, 0, 10));
  CUDAVISION_TRY(check_range("min-eigenvalue", params.min_eigenvalue, 0, 16));
  if (params.stride != 1 && params.stride != 2 && params.stride != 4 && params.stride != 8)
    return invalid_argument("stride must be 1, 2, 4 or 8, not " + std::to_string(params.stride));
  return check_range("forward-backward", params.forward_backward, 0, 100);
}

void apply_preset(FlowPreset preset, OpticalFlowParams *params) {
  const auto set = [params](int window, int levels, int iterations, double epsilon, int stride,
                            double forward_backward) {
    params->window_size = window, params->levels = levels, params->iterations = iterations;
    params->epsilon = epsilon, params->stride = stride, params->forward_backward = forward_backward;
  };
  if (preset == FlowPreset::fast) set(15, 3, 5, 0.03, 4, 0);
  if (preset == FlowPreset::medium) set(15, 3, 10, 0.03, 2, 0);
  if (preset == FlowPreset::quality) set(21, 4, 30, 0.01, 1, 1);
}

namespace opticalflow {

Rules rules_of(const OpticalFlowParams &params) {
  const auto epsilon = static_cast<float>(params.epsilon);
  return {params.window_size, params.iterations, epsilon * epsilon,
          static_cast<float>(params.min_eigenvalue)};
}

int level_count(Size frame, const OpticalFlowParams &params) {
  int levels = 0;
  for (Size size = next_level(frame);
       levels < params.levels && size.width > params.window_size && size.height > params.window_size;
       size = next_level(size))
    ++levels;
  return levels;
}

Status check_run(Size luma, Size flow, Size valid, Size made_for, bool has_previous,
                 const OpticalFlowParams &params) {
  CUDAVISION_TRY(validate(params));
  CUDAVISION_TRY(check_size("luma", luma, made_for));
  if (!has_previous) return {};
  CUDAVISION_TRY(check_size("flow", flow, flow_size(made_for, params.stride)));
  return check_size("valid", valid, flow_size(made_for, params.stride));
}

}  // namespace opticalflow

Status make_optical_flow(const Execution &execution, Size size, std::unique_ptr<OpticalFlow> *flow) {
  return make_on_backend(execution, size, flow, opticalflow::make_optical_flow_cpu,
                         CUDAVISION_IF_CUDA(opticalflow::make_optical_flow_cuda));
}

}  // namespace cudavision
