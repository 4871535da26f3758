// SPDX-License-Identifier: LGPL-2.1-or-later
// cudaLaunchKernelEx: checks the configuration, copies the arguments and queues the kernel on its stream.
#pragma once

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tests/simt/emulated/host_api.h"
#include "tests/simt/emulated/types.h"

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6
};

union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  int programmaticStreamSerializationAllowed;
};

struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  char pad[8 - sizeof(cudaLaunchAttributeID)];
  cudaLaunchAttributeValue val;
};

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};

namespace simt {
#pragma GCC visibility push(default)
// Queues a kernel. thread_body runs once per thread; kernel only identifies it.
cudaError_t launch(const cudaLaunchConfig_t &config, const void *kernel, std::function<void()> thread_body);
// The dynamic shared memory of the running block, of exactly dynamicSmemBytes; null if there is none.
void *dynamic_shared_memory();
// The running block's copy of a variable in static shared memory. key: an address that identifies the variable.
void *static_shared_memory(const void *key, std::size_t bytes);
#pragma GCC visibility pop

inline constexpr std::size_t kMaxParameterBytes = 4096;
}  // namespace simt

// Declares `T &name`, a variable in static shared memory. T may be an array, as int[4]. Unlike a static variable, each
// block has its own, and AddressSanitizer guards it in templates, too.
#define SIMT_SHARED(T, name)             \
  static constinit char name##_key_ = 0; \
  auto &name = simt::static_shared<std::type_identity_t<T>>(&name##_key_)

namespace simt {
template <class T>
T &static_shared(const void *key) {
  static_assert(std::is_trivially_default_constructible_v<T>, "CUDA initialises no shared memory");
  return *static_cast<T *>(static_shared_memory(key, sizeof(T)));
}
}  // namespace simt

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments &&...arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "wrong number of kernel arguments");
  static_assert((!std::is_reference_v<Parameters> && ...), "a kernel takes no references");
  static_assert((std::is_trivially_copyable_v<Parameters> && ...), "kernel parameters are copied bytewise");
  static_assert((sizeof(Parameters) + ... + 0) <= simt::kMaxParameterBytes,
                "too many bytes of kernel parameters");
  // As in CUDA's own header, the arguments are converted to the parameters' types and copied at the launch.
  return [&](Parameters... converted) {
    return simt::launch(
        *config, reinterpret_cast<const void *>(kernel),
        [kernel, copies = std::tuple<Parameters...>(converted...)] { std::apply(kernel, copies); });
  }(std::forward<Arguments>(arguments)...);
}
