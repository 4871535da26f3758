// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of boxes and stars as primitives: one thread per box, and one thread per cell.
#include <cuda_runtime.h>

#include "cuda/common/grid.h"
#include "cuda/common/launch.h"
#include "cuda/hog/hog_primitives_backends.h"

namespace cudavision::hog {
namespace {

constexpr int kThreads = 128;

static __global__ void __launch_bounds__(kThreads)
    make_box_primitives_kernel(HogBoxList list, int capacity, HogStyle style, Primitive *primitives) {
  const int count = min(list.count->listed, capacity);
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i < count) primitives[i] = primitive_of(list.boxes[i], style);
}

static __global__ void __launch_bounds__(kThreads)
    make_star_primitives_kernel(StarTask task, Primitive *primitives) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  const int stars = task.stars.width * task.stars.height;
  if (i == 0) primitives[static_cast<std::ptrdiff_t>(stars) * task.rules.bins] = shade_of(task);
  if (i >= stars) return;
  const int y = i / task.stars.width, x = i - y * task.stars.width;
  make_star(task, x, y, primitives + static_cast<std::ptrdiff_t>(i) * task.rules.bins);
}

}  // namespace

Status make_box_primitives_cuda(const Execution &execution, HogBoxList list, int capacity, HogStyle style,
                                Primitive *primitives) {
  return CUDAVISION_LAUNCH(make_box_primitives_kernel, blocks_for(capacity, kThreads), dim3(kThreads),
                           execution.stream, list, capacity, style, primitives);
}

Status make_star_primitives_cuda(const Execution &execution, StarTask task, Primitive *primitives) {
  return CUDAVISION_LAUNCH(make_star_primitives_kernel,
                           blocks_for(task.stars.width * task.stars.height, kThreads), dim3(kThreads),
                           execution.stream, task, primitives);
}

}  // namespace cudavision::hog
