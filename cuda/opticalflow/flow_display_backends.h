// SPDX-License-Identifier: LGPL-2.1-or-later
// Internal functions of the flow display: both backends of flow_display.h, without its checks.
#pragma once

#include "cuda/opticalflow/flow_display.h"

namespace cudavision::opticalflow {

Status draw_flow_wheel_cpu(const Execution &execution, const Frame &frame, const FlowOnFrame &flow,
                           const FlowWheel &wheel);
Status draw_flow_wheel_cuda(const Execution &execution, const Frame &frame, const FlowOnFrame &flow,
                            const FlowWheel &wheel);
Status make_flow_arrows_cpu(const Execution &execution, const FlowOnFrame &flow, const FlowArrows &arrows,
                            Primitive *primitives);
Status make_flow_arrows_cuda(const Execution &execution, const FlowOnFrame &flow, const FlowArrows &arrows,
                             Primitive *primitives);

}  // namespace cudavision::opticalflow
