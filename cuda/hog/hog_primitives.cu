// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of boxes and stars as primitives: a thread for each box, and for each cell.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/common/launch.h"
#include "cuda/hog/hog_primitives_rules.h"

namespace cudavision::hog {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    make_box_primitives_kernel(HogBoxList list, int capacity, HogStyle style, Primitive *primitives) {
  const int count = min(list.count->listed, capacity);
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i < count) primitives[i] = primitive_of(list.boxes[i], style);
}

__global__ void __launch_bounds__(kThreads)
    make_star_primitives_kernel(StarTask task, Primitive *primitives) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i >= task.cells.width * task.cells.height) return;
  const int y = i / task.cells.width, x = i - y * task.cells.width;
  make_star(task, x, y, primitives + static_cast<std::ptrdiff_t>(i) * task.rules.bins);
}

dim3 grid_of(int count) { return dim3(static_cast<unsigned>(std::max(divide_up(count, kThreads), 1))); }

}  // namespace

Status make_box_primitives_cuda(const Execution &execution, HogBoxList list, int capacity, HogStyle style,
                                Primitive *primitives) {
  return CUDAVISION_LAUNCH(make_box_primitives_kernel, grid_of(capacity), dim3(kThreads), execution.stream,
                           list, capacity, style, primitives);
}

Status make_star_primitives_cuda(const Execution &execution, StarTask task, Primitive *primitives) {
  return CUDAVISION_LAUNCH(make_star_primitives_kernel, grid_of(task.cells.width * task.cells.height),
                           dim3(kThreads), execution.stream, task, primitives);
}

}  // namespace cudavision::hog
