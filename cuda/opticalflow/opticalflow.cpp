// SPDX-License-Identifier: LGPL-2.1-or-later
// Optical flow and its display: validation, presets, the number of levels, and the choice of a backend.
#include "cuda/opticalflow/opticalflow.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/opticalflow/flow_display.h"
#include "cuda/opticalflow/opticalflow_backends.h"

namespace cudavision {

Status validate(const OpticalFlowParams &params) {
  CUDAVISION_TRY(check_range("window-size", params.window_size, OpticalFlowRanges::window_size));
  if (params.window_size % 2 == 0)
    return invalid_argument("window-size must be odd, not " + std::to_string(params.window_size));
  CUDAVISION_TRY(check_range("levels", params.levels, OpticalFlowRanges::levels));
  CUDAVISION_TRY(check_range("iterations", params.iterations, OpticalFlowRanges::iterations));
  CUDAVISION_TRY(check_range("epsilon", params.epsilon, OpticalFlowRanges::epsilon));
  CUDAVISION_TRY(check_range("min-eigenvalue", params.min_eigenvalue, OpticalFlowRanges::min_eigenvalue));
  if (params.stride != 1 && params.stride != 2 && params.stride != 4 && params.stride != 8)
    return invalid_argument("stride must be 1, 2, 4 or 8, not " + std::to_string(params.stride));
  return check_range("forward-backward", params.forward_backward, OpticalFlowRanges::forward_backward);
}

void apply_preset(OpticalFlowPreset preset, OpticalFlowParams *params) {
  const auto set = [params](int window, int levels, int iterations, double epsilon, int stride,
                            double forward_backward) {
    params->window_size = window, params->levels = levels, params->iterations = iterations;
    params->epsilon = epsilon, params->stride = stride, params->forward_backward = forward_backward;
  };
  if (preset == OpticalFlowPreset::fast) set(15, 3, 5, 0.03, 4, 0);
  if (preset == OpticalFlowPreset::medium) set(15, 3, 10, 0.03, 2, 0);
  if (preset == OpticalFlowPreset::quality) set(21, 4, 30, 0.01, 1, 1);
}

namespace opticalflow {

TrackingRules rules_of(const OpticalFlowParams &params) {
  const auto epsilon = static_cast<float>(params.epsilon);
  return {.window = params.window_size,
          .iterations = params.iterations,
          .epsilon_squared = epsilon * epsilon,
          .min_eigenvalue = static_cast<float>(params.min_eigenvalue)};
}

int level_count(Size frame, const OpticalFlowParams &params) {
  int levels = 0;
  for (Size size = next_level(frame);
       levels < params.levels && size.width > params.window_size && size.height > params.window_size;
       size = next_level(size))
    ++levels;
  return levels;
}

int max_level_count(Size frame) {
  OpticalFlowParams params;
  params.window_size = OpticalFlowRanges::window_size.least;
  params.levels = OpticalFlowRanges::levels.most;
  return level_count(frame, params);
}

Places places_on_level(Places places, Size frame, int stride, int level) {
  Size size = frame;
  for (int above = 1; above <= level; ++above) {
    size = next_level(size);
    const int step = stride_of_level(stride, above);
    // The first vector and the last pixel that start_of() reads in one direction.
    const auto first = [step](int x) { return x / 2 / step * step; };
    const auto last = [](int end, int length) { return std::min(end / 2, length - 1); };
    for (int i = 0; i < places.count; ++i) {
      Region &r = places.region[i];
      if (r.width <= 0 || r.height <= 0) continue;
      const int x = first(r.x), y = first(r.y);
      r = {x, y, last(r.x + r.width, size.width) - x + 1, last(r.y + r.height, size.height) - y + 1};
    }
  }
  return places;
}

Status check_run(Size luma, Size flow, Size valid, Size made_for, bool has_previous,
                 const OpticalFlowParams &params, const Places &places) {
  CUDAVISION_TRY(validate(params));
  CUDAVISION_TRY(check_places(places, made_for));
  CUDAVISION_TRY(check_size("luma", luma, made_for));
  if (!has_previous) return {};
  CUDAVISION_TRY(check_size("flow", flow, flow_size(made_for, params.stride)));
  return check_size("valid", valid, flow_size(made_for, params.stride));
}

}  // namespace opticalflow

Status make_opticalflow(const Execution &execution, Size size, std::unique_ptr<OpticalFlow> *flow) {
  return make_on_backend(execution, size, flow, CUDAVISION_BACKENDS(opticalflow::make_opticalflow));
}

namespace {

Status check_flow(const FlowOnFrame &flow) {
  const Size size = flow_size({flow.region.width, flow.region.height}, flow.stride);
  CUDAVISION_TRY(check_size("vectors", flow.vectors.size(), size));
  return check_size("valid", flow.valid.size(), size);
}

}  // namespace

Status draw_flow_wheel(const Execution &execution, const Frame &frame, const FlowOnFrame &flow,
                       const FlowWheel &wheel) {
  CUDAVISION_TRY(check_flow(flow));
  CUDAVISION_TRY(check_region(flow.region, frame.size()));
  if (!(std::isfinite(wheel.max_speed) && wheel.max_speed > 0))
    return invalid_argument("max-speed must be more than 0");
  CUDAVISION_TRY(check_range("legend_radius", wheel.legend_radius, Range<int>{0, 16384}));
  return run_on_backend(execution, CUDAVISION_BACKENDS(opticalflow::draw_flow_wheel), frame, flow, wheel);
}

Status make_flow_arrows(const Execution &execution, const FlowOnFrame &flow, const FlowArrows &arrows,
                        Primitive *primitives) {
  CUDAVISION_TRY(check_flow(flow));
  return run_on_backend(execution, CUDAVISION_BACKENDS(opticalflow::make_flow_arrows), flow, arrows,
                        primitives);
}

}  // namespace cudavision
