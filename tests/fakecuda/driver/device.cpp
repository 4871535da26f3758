// SPDX-License-Identifier: LGPL-2.1-or-later
// Initialisation, the devices and the names of the errors.
#include <cstdio>
#include <cstring>

#include "tests/fakecuda/driver/driver.h"

namespace {

struct ErrorName {
  CUresult error;
  const char *name;
};

#define FAKECUDA_NAME(error) \
  { error, #error }
constexpr ErrorName kErrorNames[] = {FAKECUDA_NAME(CUDA_SUCCESS),
                                     FAKECUDA_NAME(CUDA_ERROR_INVALID_VALUE),
                                     FAKECUDA_NAME(CUDA_ERROR_OUT_OF_MEMORY),
                                     FAKECUDA_NAME(CUDA_ERROR_NOT_INITIALIZED),
                                     FAKECUDA_NAME(CUDA_ERROR_DEINITIALIZED),
                                     FAKECUDA_NAME(CUDA_ERROR_DEVICE_UNAVAILABLE),
                                     FAKECUDA_NAME(CUDA_ERROR_NO_DEVICE),
                                     FAKECUDA_NAME(CUDA_ERROR_INVALID_DEVICE),
                                     FAKECUDA_NAME(CUDA_ERROR_INVALID_CONTEXT),
                                     FAKECUDA_NAME(CUDA_ERROR_NO_BINARY_FOR_GPU),
                                     FAKECUDA_NAME(CUDA_ERROR_UNSUPPORTED_LIMIT),
                                     FAKECUDA_NAME(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED),
                                     FAKECUDA_NAME(CUDA_ERROR_INVALID_HANDLE),
                                     FAKECUDA_NAME(CUDA_ERROR_NOT_FOUND),
                                     FAKECUDA_NAME(CUDA_ERROR_NOT_READY),
                                     FAKECUDA_NAME(CUDA_ERROR_ILLEGAL_ADDRESS),
                                     FAKECUDA_NAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
                                     FAKECUDA_NAME(CUDA_ERROR_LAUNCH_TIMEOUT),
                                     FAKECUDA_NAME(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED),
                                     FAKECUDA_NAME(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED),
                                     FAKECUDA_NAME(CUDA_ERROR_CONTEXT_IS_DESTROYED),
                                     FAKECUDA_NAME(CUDA_ERROR_ASSERT),
                                     FAKECUDA_NAME(CUDA_ERROR_MISALIGNED_ADDRESS),
                                     FAKECUDA_NAME(CUDA_ERROR_LAUNCH_FAILED),
                                     FAKECUDA_NAME(CUDA_ERROR_NOT_PERMITTED),
                                     FAKECUDA_NAME(CUDA_ERROR_NOT_SUPPORTED),
                                     FAKECUDA_NAME(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH),
                                     FAKECUDA_NAME(CUDA_ERROR_UNKNOWN)};
#undef FAKECUDA_NAME

const char *name_of(CUresult error) {
  for (const ErrorName &entry : kErrorNames)
    if (entry.error == error) return entry.name;
  return nullptr;
}

bool is_device(CUdevice device) { return device >= 0 && device < simt::device_count(); }

}  // namespace

using fakecuda::api;
using fakecuda::Needs;

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (simt::device_count() == 0) return CUDA_ERROR_NO_DEVICE;
  {
    const std::lock_guard lock(fakecuda::driver().mutex);
    fakecuda::driver().initialised = true;
  }
  simt::set_context_check(fakecuda::runtime_check());
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  return api("cuDriverGetVersion", Needs::nothing, [=] { return cudaDriverGetVersion(version); });
}

CUresult cuGetErrorName(CUresult error, const char **name) {
  *name = name_of(error);
  return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  const char *name = name_of(error);
  const auto runtime_error = static_cast<cudaError_t>(error);
  // Uses the runtime's text if it has one, otherwise the name, so that a known error is never called unrecognised.
  *text = std::strcmp(cudaGetErrorName(runtime_error), "unrecognized error code") == 0
              ? name
              : cudaGetErrorString(runtime_error);
  return name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  return api("cuDeviceGet", Needs::initialisation, [=] {
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int *count) {
  return api("cuDeviceGetCount", Needs::initialisation, [=] {
    *count = simt::device_count();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  return api("cuDeviceGetName", Needs::initialisation, [=] {
    if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    std::snprintf(name, static_cast<std::size_t>(length), "Emulated CUDA device %d", device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  return api("cuDeviceGetUuid", Needs::initialisation, [=] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *uuid = {};
    uuid->bytes[0] = static_cast<char>(device + 1);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  return api("cuDeviceGetAttribute", Needs::initialisation, [=] {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    switch (attribute) {
      case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
        *value = 512;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
        *value = 32;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
        *value = 1;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
      case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
      case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED:
      case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
      default:  // the runtime numbers the attributes as the driver does
        return fakecuda::to_result(
            cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
    }
  });
}

CUresult cuDeviceCanAccessPeer(int *can_access, CUdevice device, CUdevice peer) {
  return api("cuDeviceCanAccessPeer", Needs::initialisation, [=] {
    if (!is_device(device) || !is_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
    const std::lock_guard lock(fakecuda::driver().mutex);
    *can_access = device != peer && fakecuda::driver().peer_access;
    return CUDA_SUCCESS;
  });
}
