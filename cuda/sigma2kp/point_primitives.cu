// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of keypoints as primitives: a thread for each keypoint.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/common/launch.h"
#include "cuda/sigma2kp/point_primitives_rules.h"

namespace cudavision::sigma2kp {
namespace {

constexpr int kThreads = 256;
constexpr int kMostBlocks = 264;  // lists are rarely full: their threads take turns

__global__ void __launch_bounds__(kThreads)
    make_point_primitives_kernel(Sigma2List list, int capacity, PointStyle style,
                                 const __grid_constant__ LineEnds ends, Primitive *primitives, int *drawn) {
  const int count = min(list.count->listed, capacity), stride = static_cast<int>(gridDim.x) * kThreads;
  const int first = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (first == 0) *drawn = 2 * count;
  for (int i = first; i < count; i += stride)
    make_primitives(list.keypoints[i], style, ends, primitives + 2 * static_cast<std::ptrdiff_t>(i));
}

}  // namespace

Status make_point_primitives_cuda(const Execution &execution, Sigma2List list, int capacity, PointStyle style,
                                  LineEnds ends, Primitive *primitives, int *drawn) {
  const int blocks = std::clamp(divide_up(capacity, kThreads), 1, kMostBlocks);
  return CUDAVISION_LAUNCH(make_point_primitives_kernel, dim3(static_cast<unsigned>(blocks)), dim3(kThreads),
                           execution.stream, list, capacity, style, ends, primitives, drawn);
}

}  // namespace cudavision::sigma2kp
