// SPDX-License-Identifier: LGPL-2.1-or-later
// The one way in which kernels are launched: on an explicit stream, checked, with arguments passed by value.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "common/check.h"

namespace cudavision {

// Enqueues kernel(args...) on stream. Enqueues only; an error of the launch itself is returned, one that
// happens while the kernel runs shows at the next synchronisation.
template <typename... Parameters>
Status launch(const char *name, void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
              std::type_identity_t<Parameters>... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  return check_cuda(cudaLaunchKernelEx(&config, kernel, args...), name, __FILE__, __LINE__);
}

}  // namespace cudavision

#define CUDAVISION_LAUNCH(kernel, ...) ::cudavision::launch(#kernel, (kernel), __VA_ARGS__)
