// SPDX-License-Identifier: LGPL-2.1-or-later
// Device queries, function attributes and the error state.
#include "tests/simt/engine/device.h"

#include <cstdarg>
#include <cstdio>
#include <map>
#include <utility>

#include "tests/simt/engine/stream.h"

const int warpSize = 32;

namespace simt {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local int current_device = 0;

std::map<const void *, int> &opted_in_shared_bytes() {
  static auto &bytes = *new std::map<const void *, int>;
  return bytes;
}

struct ErrorName {
  cudaError_t error;
  const char *name, *text;
};

constexpr ErrorName kErrorNames[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorIncompatibleDriverContext, "cudaErrorIncompatibleDriverContext", "incompatible driver context"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorInvalidPtx, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {cudaErrorUnsupportedPtxVersion, "cudaErrorUnsupportedPtxVersion",
     "the provided PTX was compiled with an unsupported toolchain."},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorContextIsDestroyed, "cudaErrorContextIsDestroyed", "context is destroyed"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorSystemDriverMismatch, "cudaErrorSystemDriverMismatch",
     "system has unsupported display driver / cuda driver combination"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"}};

const ErrorName &find_name(cudaError_t error) {
  static constexpr ErrorName kUnrecognized{cudaErrorUnknown, "unrecognized error code",
                                           "unrecognized error code"};
  for (const ErrorName &entry : kErrorNames)
    if (entry.error == error) return entry;
  return kUnrecognized;
}

std::optional<int> attribute_value(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return kMaxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimZ:
      return kMaxBlockZ;
    case cudaDevAttrMaxGridDimX:
      return kMaxGridX;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return kMaxGridYZ;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return kMaxSharedBytes;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return kMaxSharedBytesOptIn;
    case cudaDevAttrWarpSize:
      return warpSize;
    case cudaDevAttrMultiProcessorCount:
      return kMultiprocessors;
    // The oldest architecture that the project supports.
    case cudaDevAttrComputeCapabilityMajor:
      return 7;
    case cudaDevAttrComputeCapabilityMinor:
      return 5;
    case cudaDevAttrCooperativeLaunch:
      return 1;
  }
  return std::nullopt;
}

}  // namespace

cudaError_t admit(const Entry &entry) {
  Device &d = device();
  if (d.count == 0) return cudaErrorNoDevice;
  d.running = entry.name;
  if (entry.needs_context) {
    if (d.context_check != nullptr)
      if (const cudaError_t error = d.context_check->enter(entry.name); error != cudaSuccess) return error;
    if (d.lost != cudaSuccess) return d.lost;
  }
  auto &planned = d.failures[static_cast<std::size_t>(entry.kind)];
  if (!planned || planned->successes-- > 0) return cudaSuccess;
  const auto [successes, error, loses_device] = *planned;
  planned.reset();
  if (loses_device) lose(error);
  // If a wait for the device fails, so has the queued work. As on a real device, none of it runs later: it could write
  // to host memory that the caller frees on seeing the error.
  if (entry.kind == Call::synchronise) drop_all();
  return error;
}

void lose(cudaError_t error) {
  device().lost = error;
  drop_all();
}

Context current_context() {
  return device().context_check == nullptr ? kNoContext : device().context_check->current();
}

bool is_drivers_own() {
  return device().context_check != nullptr && device().context_check->is_drivers_own();
}

cudaError_t check_owner(Object object, Context owner) {
  ContextCheck *check = device().context_check;
  return check == nullptr ? cudaSuccess : check->use(device().running, object, owner);
}

void set_context_check(ContextCheck *check) {
  const std::lock_guard lock(device().mutex);
  device().context_check = check;
}

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

cudaError_t complain(cudaError_t error, const char *format, ...) {
  std::fputs("simt: ", stderr);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  return error;
}

int max_dynamic_shared_bytes(const void *kernel) {
  const auto &opted_in = opted_in_shared_bytes();
  const auto found = opted_in.find(kernel);
  return found == opted_in.end() ? kMaxSharedBytes : found->second;
}

}  // namespace simt

using simt::api;
using simt::Call;

const char *cudaGetErrorName(cudaError_t error) { return simt::find_name(error).name; }
const char *cudaGetErrorString(cudaError_t error) { return simt::find_name(error).text; }
cudaError_t cudaPeekAtLastError() { return simt::last_error; }
cudaError_t cudaGetLastError() { return std::exchange(simt::last_error, cudaSuccess); }

cudaError_t cudaDriverGetVersion(int *version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 12000;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 0;
  return api({Call::query, __func__, false}, [=] {
    *count = simt::device().count;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int *device) {
  return api({Call::query, __func__, false}, [=] {
    const simt::ContextCheck *check = simt::device().context_check;
    *device = check == nullptr ? simt::current_device : check->device();
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return api({Call::query, __func__, false}, [=] {
    if (device < 0 || device >= simt::device().count) return cudaErrorInvalidDevice;
    if (simt::ContextCheck *check = simt::device().context_check; check != nullptr)
      return check->set_device(device);
    simt::current_device = device;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  return api({Call::query, __func__, false}, [=] {
    if (device < 0 || device >= simt::device().count) return cudaErrorInvalidDevice;
    const std::optional<int> found = simt::attribute_value(attribute);
    if (!found)
      return simt::complain(cudaErrorInvalidValue, "cudaDeviceGetAttribute: %d is not emulated", attribute);
    *value = *found;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel) {
  return api({Call::query, __func__}, [=] {
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    *attributes = {};
    attributes->maxThreadsPerBlock = simt::kMaxThreadsPerBlock;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = 75;
    attributes->maxDynamicSharedSizeBytes = simt::max_dynamic_shared_bytes(kernel);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value) {
  return api({Call::query, __func__}, [=] {
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaErrorInvalidValue;
    if (value < 0 || value > simt::kMaxSharedBytesOptIn) return cudaErrorInvalidValue;
    simt::opted_in_shared_bytes()[kernel] = value;
    return cudaSuccess;
  });
}

// Consistent with launches: one block at most, as if each used all of a multiprocessor's shared memory.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int block_size,
                                                          std::size_t dynamic_shared_bytes) {
  return api({Call::query, __func__}, [=] {
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    const auto limit = static_cast<std::size_t>(simt::max_dynamic_shared_bytes(kernel));
    const bool fits = block_size <= simt::kMaxThreadsPerBlock && dynamic_shared_bytes <= limit;
    *blocks = fits ? 1 : 0;
    return cudaSuccess;
  });
}
