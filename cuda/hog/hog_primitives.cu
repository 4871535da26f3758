// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of boxes and stars as primitives: one thread per box, and one thread per
// bin of a star.
#include <cuda_runtime.h>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/static_shared.cuh"
#include "cuda/hog/hog_primitives_backends.h"

namespace cudavision::hog {
namespace {

constexpr int kThreads = 128;

static __global__ void __launch_bounds__(kThreads)
    make_box_primitives_kernel(HogBoxList list, int capacity, const __grid_constant__ BoxDrawing drawing) {
  const int boxes = min(list.count->listed, capacity);
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i < boxes) make_primitives_of_box(list.boxes[i], i, boxes, drawing);
  if (i == 0) *drawing.count = boxes * primitives_per_box(drawing.labels);
}

// A block has kThreads / bins stars; the threads of a star share its sum of contrasts and see each other's
// strengths.
static __global__ void __launch_bounds__(kThreads)
    make_star_primitives_kernel(const __grid_constant__ StarTask task, Primitive *primitives) {
  CUDAVISION_SHARED(int[kThreads], sums);
  CUDAVISION_SHARED(std::uint8_t[kThreads], strengths);
  const int bins = task.rules.bins, stars_here = kThreads / bins, thread = static_cast<int>(threadIdx.x);
  const int local = thread / bins, bin = thread - local * bins;
  const int star = static_cast<int>(blockIdx.x) * stars_here + local;
  const int y = star / task.stars.width, x = star - y * task.stars.width;
  const bool is_used = local < stars_here && y < task.stars.height;
  const ContrastGrid grid = contrast_grid(task, x, y);
  sums[thread] = 0;
  __syncthreads();
  if (is_used) atomicAdd(&sums[local], contrast_sum(task, grid, bin, bins));
  __syncthreads();
  if (is_used) {
    float mean[1];
    take_means_of_star(task, x, y, bin, 1, mean);
    strengths[thread] = strength_of(task, mean[0], contrast_weight(grid, sums[local]));
  }
  __syncthreads();
  if (!is_used) return;
  Primitive *lines = primitives + static_cast<std::ptrdiff_t>(star) * bins;
  lines[rank_of(strengths + local * bins, bins, bin)] = line_of(task, x, y, bin, strengths[thread]);
  if (star == 0 && bin == 0)
    lines[static_cast<std::ptrdiff_t>(task.stars.width) * task.stars.height * bins] = shade_of(task);
}

}  // namespace

Status make_box_primitives_cuda(const Execution &execution, HogBoxList list, int capacity,
                                BoxDrawing drawing) {
  return CUDAVISION_LAUNCH(make_box_primitives_kernel, blocks_for(capacity, kThreads), dim3(kThreads),
                           execution.stream, list, capacity, drawing);
}

Status make_star_primitives_cuda(const Execution &execution, StarTask task, Primitive *primitives) {
  const int stars_of_block = kThreads / task.rules.bins;
  return CUDAVISION_LAUNCH(make_star_primitives_kernel,
                           blocks_for(task.stars.width * task.stars.height, stars_of_block), dim3(kThreads),
                           execution.stream, task, primitives);
}

}  // namespace cudavision::hog
