// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel that is only asked for: every .cu file is compiled for the same devices.
#include "cuda/common/probe.h"

#include <cuda_runtime.h>

#include "cuda/common/check.h"

namespace cudavision {
namespace {

__global__ void probe_kernel() {}

}  // namespace

Status probe_kernels() {
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, probe_kernel);
  const Status status = CUDAVISION_CHECK_CUDA(error);
  if (error != cudaErrorNoKernelImageForDevice && error != cudaErrorInvalidDeviceFunction) return status;
  return {Status::Code::no_device, "no code for this device in this build: " + status.text()};
}

}  // namespace cudavision
