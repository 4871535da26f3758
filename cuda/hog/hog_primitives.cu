// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of boxes and stars as primitives: one thread per box, one warp for the first labels, and one thread
// for each bin of a star.
#include <cuda_runtime.h>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/static_shared.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/hog/hog_backends.h"

namespace cudavision::hog {
namespace {

constexpr int kThreads = 128;

// Makes the first kMostPlacedLabels labels, each at a place where it covers no earlier label, if there is one. Called
// by one warp, whose lanes compare a place with the backgrounds of 32 labels at once.
__device__ void make_first_labels(const HogBox *boxes, int count, const BoxDrawing &drawing) {
  const int lane = static_cast<int>(threadIdx.x), size = label_size(drawing.labels.text.length, true);
  const auto covers = [&](int label, const Region &place) {
    const Primitive &other = drawing.primitives[count + label * size];
    return overlap(place, {other.x0, other.y0, other.x1 - other.x0 + 1, other.y1 - other.y0 + 1});
  };
  const auto is_covered = [&](const Region &place, int before) {
    for (int first = 0; first < before; first += 32)
      if (__any_sync(kFullWarp, first + lane < before && covers(first + lane, place))) return true;
    return false;
  };
  for (int i = 0; i < min(count, kMostPlacedLabels); ++i) {
    const HogBox box = boxes[i];
    LabelPlaces places = places_of_label(box, drawing);
    Region place;
    while (places.next(&place) && is_covered(place, i)) {
    }
    if (lane == 0) make_label_of_box(box, i, count, place, drawing);
    __syncwarp();
  }
}

// Makes the outlines and labels of boxes. The first warp makes the first kMostPlacedLabels labels. Each further label
// is made by the thread of its box, and may cover other labels.
static __global__ void __launch_bounds__(kThreads)
    make_box_primitives_kernel(HogBoxList list, int capacity, const __grid_constant__ BoxDrawing drawing) {
  const int boxes = min(list.count->listed, capacity);
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i == 0) *drawing.count = boxes * primitives_per_box(drawing.labels);
  if (i < boxes) drawing.primitives[i] = primitive_of(list.boxes[i], drawing.style);
  if (!drawing.labels.shown) return;
  if (i < 32) make_first_labels(list.boxes, boxes, drawing);
  if (i < kMostPlacedLabels || i >= boxes) return;
  const HogBox box = list.boxes[i];
  Region place;
  places_of_label(box, drawing).next(&place);
  make_label_of_box(box, i, boxes, place, drawing);
}

// A block computes kThreads / bins stars. The threads of a star, one per bin, add up its contrast together, and compare
// their strengths to sort the lines.
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
