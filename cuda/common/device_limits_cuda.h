// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits of the current CUDA device. Included by the CUDA backend only.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/check_cuda.h"

namespace cudavision {

inline Status device_attribute(cudaDeviceAttr attribute, int *value) {
  int device = 0;
  CUDAVISION_TRY_CUDA(cudaGetDevice(&device));
  return CUDAVISION_CHECK_CUDA(cudaDeviceGetAttribute(value, attribute, device));
}

// The number of multiprocessors of the current device.
inline Status multiprocessor_count(int *count) {
  return device_attribute(cudaDevAttrMultiProcessorCount, count);
}

// The most shared memory that a block can use on the current device, in bytes, static shared memory included.
// A kernel that uses more than 48 KiB of it needs allow_shared_bytes() (launch_cuda.h).
inline Status max_shared_bytes(int *bytes) {
  return device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, bytes);
}

}  // namespace cudavision
