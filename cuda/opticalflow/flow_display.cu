// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the flow display: one thread per chroma cell, or per line of an arrow.
#include <cuda_runtime.h>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/opticalflow/flow_display_rules.h"
#include "cuda/opticalflow/opticalflow_backends.h"

namespace cudavision::opticalflow {
namespace {

constexpr int kArrowThreads = 128;

static __global__ void __launch_bounds__(kBlockX *kBlockY)
    paint_wheel_kernel(const __grid_constant__ Frame frame, const __grid_constant__ FlowOnFrame flow,
                       const __grid_constant__ FlowWheel wheel) {
  const int x = static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  const Size cells = wheel_cells(frame, flow.region);
  if (x < cells.width && y < cells.height) paint_cell(frame, flow, wheel, x, y);
}

static __global__ void __launch_bounds__(kArrowThreads)
    make_arrows_kernel(const __grid_constant__ FlowOnFrame flow, const __grid_constant__ FlowArrows arrows,
                       int count, Primitive *primitives) {
  const int i = static_cast<int>(blockIdx.x) * kArrowThreads + static_cast<int>(threadIdx.x);
  if (i < count) primitives[i] = arrow_primitive(flow, arrows, i);
}

}  // namespace

Status draw_flow_wheel_cuda(const Execution &execution, const Frame &frame, const FlowOnFrame &flow,
                            const FlowWheel &wheel) {
  const Size cells = wheel_cells(frame, flow.region);
  return CUDAVISION_LAUNCH(paint_wheel_kernel, grid_2d(cells.width, cells.height), block_2d(),
                           execution.stream, frame, flow, wheel);
}

Status make_flow_arrows_cuda(const Execution &execution, const FlowOnFrame &flow, const FlowArrows &arrows,
                             Primitive *primitives) {
  const int count = arrow_line_count({flow.region.width, flow.region.height});
  if (count == 0) return {};
  return CUDAVISION_LAUNCH(make_arrows_kernel, dim3(blocks_for(count, kArrowThreads)), dim3(kArrowThreads),
                           execution.stream, flow, arrows, count, primitives);
}

}  // namespace cudavision::opticalflow
