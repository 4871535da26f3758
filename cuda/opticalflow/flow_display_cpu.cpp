// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the flow display: threads share the rows of chroma cells.
#include <algorithm>

#include "cuda/opticalflow/flow_display_backends.h"
#include "cuda/opticalflow/flow_display_rules.h"

namespace cudavision::opticalflow {
namespace {

constexpr int kCellRowsPerTask = 16;

}  // namespace

Status draw_flow_wheel_cpu(const Execution &execution, const Frame &frame, const FlowOnFrame &flow,
                           const FlowWheel &wheel) {
  const Size cells = wheel_cells(frame, flow.region);
  return execution.workers->run_rows(cells.height, kCellRowsPerTask, [&](int y, int) {
    for (int x = 0; x < cells.width; ++x) paint_cell(frame, flow, wheel, x, y);
  });
}

Status make_flow_arrows_cpu(const Execution &, const FlowOnFrame &flow, const FlowArrows &arrows,
                            Primitive *primitives) {
  const int count = arrow_line_count({flow.region.width, flow.region.height});
  for (int i = 0; i < count; ++i) primitives[i] = arrow_primitive(flow, arrows, i);
  return {};
}

}  // namespace cudavision::opticalflow
