// SPDX-License-Identifier: LGPL-2.1-or-later
// Optical flow made visible: checks, the CPU backend, and the choice of one.
#include "cuda/opticalflow/flow_display.h"

#include <algorithm>
#include <cmath>

#include "cuda/common/backends.h"
#include "cuda/opticalflow/flow_display_rules.h"

namespace cudavision {

namespace opticalflow {
namespace {

constexpr int kCellRowsPerTask = 16;

Status check_flow(const FlowOnFrame &flow) {
  const Size size = flow_size({flow.region.width, flow.region.height}, flow.stride);
  CUDAVISION_TRY(check_size("vectors", flow.vectors.size(), size));
  return check_size("valid", flow.valid.size(), size);
}

}  // namespace

Status draw_flow_wheel_cpu(const Execution &execution, const Frame &frame, const FlowOnFrame &flow,
                           const FlowWheel &wheel) {
  const Size cells = wheel_cells(frame, flow.region);
  execution.workers->run(divide_up(cells.height, kCellRowsPerTask), [&](int task, int) {
    const int last = std::min(cells.height, (task + 1) * kCellRowsPerTask);
    for (int y = task * kCellRowsPerTask; y < last; ++y)
      for (int x = 0; x < cells.width; ++x) paint_cell(frame, flow, wheel, x, y);
  });
  return {};
}

Status make_flow_arrows_cpu(const Execution &, const FlowOnFrame &flow, const FlowArrows &arrows,
                            Primitive *primitives) {
  const int count = arrow_line_count({flow.region.width, flow.region.height});
  for (int i = 0; i < count; ++i) primitives[i] = arrow_primitive(flow, arrows, i);
  return {};
}

}  // namespace opticalflow

Status draw_flow_wheel(const Execution &execution, const Frame &frame, const FlowOnFrame &flow,
                       const FlowWheel &wheel) {
  CUDAVISION_TRY(opticalflow::check_flow(flow));
  CUDAVISION_TRY(check_region(flow.region, frame.size()));
  if (!(std::isfinite(wheel.max_speed) && wheel.max_speed > 0))
    return invalid_argument("max-speed must be more than 0");
  return run_on_backend(execution, opticalflow::draw_flow_wheel_cpu,
                        CUDAVISION_IF_CUDA(opticalflow::draw_flow_wheel_cuda), frame, flow, wheel);
}

Status make_flow_arrows(const Execution &execution, const FlowOnFrame &flow, const FlowArrows &arrows,
                        Primitive *primitives) {
  CUDAVISION_TRY(opticalflow::check_flow(flow));
  return run_on_backend(execution, opticalflow::make_flow_arrows_cpu,
                        CUDAVISION_IF_CUDA(opticalflow::make_flow_arrows_cuda), flow, arrows, primitives);
}

}  // namespace cudavision
