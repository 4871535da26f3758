// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the plot: one block per channel finds the largest count, then each thread makes a primitive.
#include <cuda_runtime.h>

#include "cuda/common/launch_cuda.h"
#include "cuda/common/static_shared.cuh"
#include "cuda/histogram/histogram_backends.h"
#include "cuda/histogram/plot_rules.h"

namespace cudavision::histogram {
namespace {

constexpr int kThreads = kMaxBins;  // one per bin

static __global__ void __launch_bounds__(kThreads)
    plot_kernel(const std::uint32_t *counts, int bins, const __grid_constant__ HistogramPlot plot,
                Primitive *primitives) {
  CUDAVISION_SHARED(unsigned, largest);
  const int bin = static_cast<int>(threadIdx.x), channel = static_cast<int>(blockIdx.x);
  const int channels = static_cast<int>(gridDim.x);
  if (bin == 0) largest = 1;
  __syncthreads();
  const unsigned count = bin < bins ? counts[channel * bins + bin] : 0;
  atomicMax(&largest, count);
  __syncthreads();
  Primitive *own = primitives + channel * (2 + bins);
  if (bin < 2) own[bin] = plot_primitive(plot, channel, channels, bins, bin, 0, largest);
  if (bin < bins) own[2 + bin] = plot_primitive(plot, channel, channels, bins, 2 + bin, count, largest);
}

}  // namespace

Status plot_cuda(const Execution &execution, const std::uint32_t *counts, int channels, int bins,
                 const HistogramPlot &plot, Primitive *primitives) {
  return CUDAVISION_LAUNCH(plot_kernel, dim3(static_cast<unsigned>(channels)), dim3(kThreads),
                           execution.stream, counts, bins, plot, primitives);
}

}  // namespace cudavision::histogram
