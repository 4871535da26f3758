// SPDX-License-Identifier: LGPL-2.1-or-later
// The one way in which kernels are launched: on an explicit stream, checked, with arguments passed by value.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "common/check.h"

namespace cudavision {

// The name of a kernel and the place in the source that launches it, for errors.
struct LaunchSite {
  const char *kernel, *file;
  int line;
};

// The size of a block: its threads, and its dynamic shared memory (dynamic_shared.cuh).
struct BlockSize {
  dim3 threads;
  std::size_t shared_bytes = 0;

  BlockSize(dim3 block_threads, std::size_t bytes = 0) : threads(block_threads), shared_bytes(bytes) {}
};

// Lets a kernel be launched with so much dynamic shared memory, where that is more than 48 KiB. The limit is
// the kernel's, for all who launch it on the device: ask for the most that the device has, lest one takes it
// from another.
template <typename... Parameters>
Status allow_shared_bytes(void (*kernel)(Parameters...), std::size_t shared_bytes) {
  return CUDAVISION_CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                    static_cast<int>(shared_bytes)));
}

// Enqueues kernel(args...) on stream. Enqueues only; an error of the launch itself is returned, one that
// happens while the kernel runs shows at the next synchronisation.
template <typename... Parameters>
Status launch(LaunchSite site, void (*kernel)(Parameters...), dim3 grid, BlockSize block, cudaStream_t stream,
              std::type_identity_t<Parameters>... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block.threads;
  config.dynamicSmemBytes = block.shared_bytes;
  config.stream = stream;
  return check_cuda(cudaLaunchKernelEx(&config, kernel, args...), site.kernel, site.file, site.line);
}

}  // namespace cudavision

// CUDAVISION_LAUNCH(kernel, grid, block, stream, arguments...), or with a pointer to one of several kernels
// and the name that they share. block: a dim3, or {dim3, bytes of dynamic shared memory}.
#define CUDAVISION_LAUNCH(kernel, ...) CUDAVISION_LAUNCH_NAMED(#kernel, (kernel), __VA_ARGS__)
#define CUDAVISION_LAUNCH_NAMED(name, ...) ::cudavision::launch({name, __FILE__, __LINE__}, __VA_ARGS__)
