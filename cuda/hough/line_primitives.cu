// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of line primitives: one thread per line.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/hough/hough_backends.h"
#include "cuda/hough/line_primitives_rules.h"

namespace cudavision::hough {
namespace {

constexpr int kThreads = 256;
// The maximum number of blocks. The host does not know the length of the list, which is rarely full; a grid-stride loop
// covers longer lists.
constexpr unsigned kMaxBlocks = 264;

static __global__ void __launch_bounds__(kThreads)
    make_line_primitives_kernel(HoughList list, int capacity, const __grid_constant__ LineStyle style,
                                Primitive *primitives) {
  const int count = min(list.count->listed, capacity), stride = static_cast<int>(gridDim.x) * kThreads;
  for (int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x); i < count;
       i += stride)
    primitives[i] = primitive_of(list.lines[i], style);
}

}  // namespace

Status make_line_primitives_cuda(const Execution &execution, const HoughList &list, int capacity,
                                 const LineStyle &style, Primitive *primitives) {
  const unsigned blocks = std::min(blocks_for(capacity, kThreads), kMaxBlocks);
  return CUDAVISION_LAUNCH(make_line_primitives_kernel, dim3(blocks), dim3(kThreads), execution.stream, list,
                           capacity, style, primitives);
}

}  // namespace cudavision::hough
