// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of keypoint primitives: one thread per keypoint.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/sigma2kp/sigma2kp_backends.h"

namespace cudavision::sigma2kp {
namespace {

constexpr int kThreads = 256;
// The maximum number of blocks. The host does not know the length of the list, which is rarely full; a grid-stride loop
// covers longer lists.
constexpr unsigned kMaxBlocks = 264;

static __global__ void __launch_bounds__(kThreads)
    make_point_primitives_kernel(Sigma2KpList list, int capacity, PointStyle style,
                                 const __grid_constant__ LineEnds ends, Primitive *primitives, int *drawn) {
  const int count = min(list.count->listed, capacity), stride = static_cast<int>(gridDim.x) * kThreads;
  const int first = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (first == 0) *drawn = 2 * count;
  for (int i = first; i < count; i += stride)
    make_primitives(list.keypoints[i], style, ends, primitives + 2 * static_cast<std::ptrdiff_t>(i));
}

}  // namespace

Status make_point_primitives_cuda(const Execution &execution, Sigma2KpList list, int capacity,
                                  PointStyle style, LineEnds ends, Primitive *primitives, int *drawn) {
  const unsigned blocks = std::min(blocks_for(capacity, kThreads), kMaxBlocks);
  return CUDAVISION_LAUNCH(make_point_primitives_kernel, dim3(blocks), dim3(kThreads), execution.stream, list,
                           capacity, style, ends, primitives, drawn);
}

}  // namespace cudavision::sigma2kp
