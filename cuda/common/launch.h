// SPDX-License-Identifier: LGPL-2.1-or-later
// The one way in which kernels are launched: on an explicit stream, checked, with arguments passed by value.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "cuda/common/check.h"

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

// When a kernel's blocks start.
enum class Start {
  after_kernel_ahead,  // when the kernel ahead of it in the stream has ended
  early,               // when the kernel ahead leaves room, where the device can do that: a launch costs less
  together,  // after the kernel ahead, all blocks at once: they may wait for one another (grid_barrier.cuh)
};

// Whether the machine code for compute capability 9.0 and newer, where wait_for_kernel_ahead() waits, is there:
// older code, compiled anew by a newer device's driver, would not wait.
#ifdef __CUDA_ARCH_LIST__
constexpr bool kCanWait = [] {
  for (const int arch : {__CUDA_ARCH_LIST__})
    if (arch >= 900) return true;
  return false;
}();
#else
constexpr bool kCanWait = false;
#endif

inline bool device_starts_early() {
  int device = 0, major = 0;
  return kCanWait && cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         major >= 9;
}

// What every thread of a kernel that is launched early calls before it touches memory. From then on the next
// kernel in the stream may start as early, and waits in its turn.
__device__ inline void wait_for_kernel_ahead() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}

// Enqueues kernel(args...) on stream. Enqueues only; an error of the launch itself is returned, one that
// happens while the kernel runs shows at the next synchronisation.
template <typename... Parameters>
Status launch(LaunchSite site, void (*kernel)(Parameters...), Start start, dim3 grid, BlockSize block,
              cudaStream_t stream, std::type_identity_t<Parameters>... args) {
  cudaLaunchAttribute early = {}, together = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block.threads;
  config.dynamicSmemBytes = block.shared_bytes;
  config.stream = stream;
  if (start == Start::early && device_starts_early()) {
    config.attrs = &early;
    config.numAttrs = 1;
  }
  if (start == Start::together) {
    config.attrs = &together;
    config.numAttrs = 1;
  }
  return check_cuda(cudaLaunchKernelEx(&config, kernel, args...), site.kernel, site.file, site.line);
}

}  // namespace cudavision

// CUDAVISION_LAUNCH(kernel, grid, block, stream, arguments...), or with a pointer to one of several kernels
// and the name that they share. block: a dim3, or {dim3, bytes of dynamic shared memory}.
#define CUDAVISION_LAUNCH(kernel, ...) CUDAVISION_LAUNCH_NAMED(#kernel, (kernel), __VA_ARGS__)
#define CUDAVISION_LAUNCH_NAMED(name, kernel, ...)                                                  \
  ::cudavision::launch({name, __FILE__, __LINE__}, kernel, ::cudavision::Start::after_kernel_ahead, \
                       __VA_ARGS__)
// The same for a kernel whose blocks wait for one another. An error when they do not all find room on the
// device.
#define CUDAVISION_LAUNCH_TOGETHER(name, kernel, ...) \
  ::cudavision::launch({name, __FILE__, __LINE__}, kernel, ::cudavision::Start::together, __VA_ARGS__)
// The same for a kernel that begins with wait_for_kernel_ahead().
#define CUDAVISION_LAUNCH_EARLY(name, kernel, ...) \
  ::cudavision::launch({name, __FILE__, __LINE__}, kernel, ::cudavision::Start::early, __VA_ARGS__)
