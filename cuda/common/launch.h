// SPDX-License-Identifier: LGPL-2.1-or-later
// The one way in which kernels are launched: on an explicit stream, checked, with arguments passed by value.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "common/check.h"

namespace cudavision {

// The name of a kernel and the place in the source that launches it, for errors.
struct LaunchSite {
  const char *kernel, *file;
  int line;
};

// Enqueues kernel(args...) on stream. Enqueues only; an error of the launch itself is returned, one that
// happens while the kernel runs shows at the next synchronisation.
template <typename... Parameters>
Status launch(LaunchSite site, void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
              std::type_identity_t<Parameters>... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  return check_cuda(cudaLaunchKernelEx(&config, kernel, args...), site.kernel, site.file, site.line);
}

}  // namespace cudavision

// CUDAVISION_LAUNCH(kernel, grid, block, stream, arguments...), or with a pointer to one of several kernels
// and the name that they share.
#define CUDAVISION_LAUNCH(kernel, ...) CUDAVISION_LAUNCH_NAMED(#kernel, (kernel), __VA_ARGS__)
#define CUDAVISION_LAUNCH_NAMED(name, ...) ::cudavision::launch({name, __FILE__, __LINE__}, __VA_ARGS__)
