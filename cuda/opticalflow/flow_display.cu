// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of what makes optical flow visible: a thread for each cell of pixels, or for each line of
// an arrow.
#include <cuda_runtime.h>

#include "cuda/common/launch.h"
#include "cuda/opticalflow/flow_display_rules.h"

namespace cudavision::opticalflow {
namespace {

constexpr int kBlockX = 32, kBlockY = 8;
constexpr int kThreads = 128;

__global__ void __launch_bounds__(kBlockX *kBlockY)
    paint_wheel_kernel(const __grid_constant__ Frame frame, const __grid_constant__ FlowOnFrame flow,
                       const __grid_constant__ FlowWheel wheel) {
  const int x = static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  const Size cells = wheel_cells(frame, flow.region);
  if (x < cells.width && y < cells.height) paint_cell(frame, flow, wheel, x, y);
}

__global__ void __launch_bounds__(kThreads)
    make_arrows_kernel(const __grid_constant__ FlowOnFrame flow, const __grid_constant__ FlowArrows arrows,
                       int count, Primitive *primitives) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i < count) primitives[i] = arrow_primitive(flow, arrows, i);
}

}  // namespace

Status draw_flow_wheel_cuda(const Execution &execution, const Frame &frame, const FlowOnFrame &flow,
                            const FlowWheel &wheel) {
  const Size cells = wheel_cells(frame, flow.region);
  const dim3 grid(static_cast<unsigned>(divide_up(cells.width, kBlockX)),
                  static_cast<unsigned>(divide_up(cells.height, kBlockY)));
  return CUDAVISION_LAUNCH(paint_wheel_kernel, grid, dim3(kBlockX, kBlockY), execution.stream, frame, flow,
                           wheel);
}

Status make_flow_arrows_cuda(const Execution &execution, const FlowOnFrame &flow, const FlowArrows &arrows,
                             Primitive *primitives) {
  const int count = arrow_line_count({flow.region.width, flow.region.height});
  if (count == 0) return {};
  return CUDAVISION_LAUNCH(make_arrows_kernel, dim3(static_cast<unsigned>(divide_up(count, kThreads))),
                           dim3(kThreads), execution.stream, flow, arrows, count, primitives);
}

}  // namespace cudavision::opticalflow
