// SPDX-License-Identifier: LGPL-2.1-or-later
// Display of optical flow: validation and the choice of a backend.
#include "cuda/opticalflow/flow_display.h"

#include <cmath>

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/opticalflow/flow_display_backends.h"

namespace cudavision {
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
