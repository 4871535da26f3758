// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernel launches: on an explicit stream, checked, with arguments passed by value. All kernels are launched
// through this header.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "cuda/common/check_cuda.h"
#include "cuda/common/execution.h"

namespace cudavision {

// The name of a kernel and the source line that launches it, for error messages.
struct LaunchSite {
  const char *kernel, *file;
  int line;
};

// The size of a block: its threads and its dynamic shared memory (dynamic_shared.cuh).
struct BlockSize {
  dim3 threads;
  std::size_t shared_bytes = 0;

  BlockSize(dim3 block_threads, std::size_t bytes = 0) : threads(block_threads), shared_bytes(bytes) {}
};

// Allows launches of a kernel with up to shared_bytes of dynamic shared memory; needed above 48 KiB. The limit is a
// property of the kernel on the device, shared by all callers. Always pass the most that any launch on this device can
// need, which follows from max_shared_bytes() (device_limits_cuda.h): a smaller limit would make larger launches by
// other callers fail.
template <typename... Parameters>
Status allow_shared_bytes(void (*kernel)(Parameters...), std::size_t shared_bytes) {
  return CUDAVISION_CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                    static_cast<int>(shared_bytes)));
}

// When the blocks of a kernel start.
enum class Start {
  // After the previous kernel of the stream has finished.
  in_order,
  // Programmatic dependent launch (PDL): as soon as all blocks of the previous kernel have called
  // let_next_kernel_start() or have ended, and multiprocessors have room. This hides the latency of the
  // launch. Falls back to in_order on devices without PDL (compute capability below 9.0).
  pdl,
  // Cooperative launch: after the previous kernel, and all blocks at the same time, so that blocks may wait
  // for one another (grid_barrier.cuh).
  cooperative,
};

#ifndef CUDAVISION_EMULATED_CUDA
// Whether this build holds machine code for compute capability 9.0 or newer, in which wait_for_kernel_ahead()
// does wait. PTX below sm_90 that is JIT-compiled on Hopper has no dependency wait, so PDL stays off then.
#ifdef __CUDA_ARCH_LIST__
constexpr bool kBuiltForPdl = [] {
  for (const int arch : {__CUDA_ARCH_LIST__})
    if (arch >= 900) return true;
  return false;
}();
#else
constexpr bool kBuiltForPdl = false;
#endif

inline bool device_supports_pdl() {
  int device = 0, major = 0;
  return kBuiltForPdl && cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         major >= 9;
}
#else
inline bool device_supports_pdl() { return true; }
#endif

// Programmatic dependent launch (CUDA C++ Programming Guide, "Programmatic Dependent Launch and
// Synchronization"): a kernel that is launched with Start::pdl may start before the kernel ahead of it in the
// stream has finished. The next three functions do nothing on devices without it.

// Lets the next kernel of the stream start as soon as all blocks of this one have called this or have ended.
__device__ inline void let_next_kernel_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#elif defined(CUDAVISION_EMULATED_CUDA)
  simt::let_next_kernel_start();
#endif
}

// Waits until the kernel ahead has finished and its writes are visible. In a kernel that is launched with Start::pdl,
// every thread must call this before it writes global memory or reads what the work ahead may write, with the
// exceptions below. On every path at least one thread of the grid must call this: otherwise the kernel could end before
// kernels that are further ahead in the stream. Four kinds of memory may be used before the call:
// - a counter that every block updates before it lets the next kernel start;
// - memory of which consecutive frames use two parts in turn, if no block lets the next kernel start before it has
//   waited or ended;
// - memory whose last users had finished before an earlier kernel of this frame that was launched in order;
// - memory that the kernel ahead does not use, if that kernel itself waits before it lets the next kernel start.
// Accesses to the first two must reach L2: atomics, loads with acquire semantics, and __ldcg.
__device__ inline void wait_for_kernel_ahead() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#elif defined(CUDAVISION_EMULATED_CUDA)
  simt::wait_for_kernel_ahead();
#endif
}

// Waits until the input of a kernel can be read. wait_for_kernel_ahead() must follow: with a complete input,
// the kernel ahead may still run.
__device__ inline void wait_for_input(Input input) {
  if (input == Input::in_stream_order) wait_for_kernel_ahead();
}

// Enqueues kernel(args...) on the stream and does not wait for it. Returns errors of the launch itself; an
// error during execution is reported by the next synchronisation.
template <typename... Parameters>
Status launch(LaunchSite site, void (*kernel)(Parameters...), Start start, dim3 grid, BlockSize block,
              cudaStream_t stream, std::type_identity_t<Parameters>... args) {
  cudaLaunchAttribute pdl = {}, cooperative = {};
  pdl.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  pdl.val.programmaticStreamSerializationAllowed = 1;
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block.threads;
  config.dynamicSmemBytes = block.shared_bytes;
  config.stream = stream;
  if (start == Start::pdl && device_supports_pdl()) {
    config.attrs = &pdl;
    config.numAttrs = 1;
  }
  if (start == Start::cooperative) {
    config.attrs = &cooperative;
    config.numAttrs = 1;
  }
  return check_cuda(cudaLaunchKernelEx(&config, kernel, args...), site.kernel, site.file, site.line);
}

}  // namespace cudavision

// CUDAVISION_LAUNCH(kernel, grid, block, stream, arguments...) launches a kernel with Start::in_order. block:
// a dim3, or {dim3, bytes of dynamic shared memory}. The variants with a name take a function pointer, for
// example to an instance of a template, and the name for error messages.
#define CUDAVISION_LAUNCH(kernel, ...) CUDAVISION_LAUNCH_NAMED(#kernel, (kernel), __VA_ARGS__)
#define CUDAVISION_LAUNCH_NAMED(name, kernel, ...) \
  ::cudavision::launch({name, __FILE__, __LINE__}, kernel, ::cudavision::Start::in_order, __VA_ARGS__)
// A cooperative launch. Fails if the blocks do not all fit on the device at the same time.
#define CUDAVISION_LAUNCH_COOPERATIVE(name, kernel, ...) \
  ::cudavision::launch({name, __FILE__, __LINE__}, kernel, ::cudavision::Start::cooperative, __VA_ARGS__)
// A programmatic dependent launch. The kernel must call wait_for_kernel_ahead().
#define CUDAVISION_LAUNCH_PDL(name, kernel, ...) \
  ::cudavision::launch({name, __FILE__, __LINE__}, kernel, ::cudavision::Start::pdl, __VA_ARGS__)
