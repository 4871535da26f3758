// SPDX-License-Identifier: LGPL-2.1-or-later
// Probes one kernel, which is never launched; the result holds for all kernels because every .cu file is
// compiled for the same devices.
#include "cuda/common/probe.h"

#include <cuda_runtime.h>

#include "cuda/common/check_cuda.h"

namespace cudavision {
namespace {

static __global__ void probe_kernel() {}

}  // namespace

Status probe_kernels() {
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, probe_kernel);
  const Status status = CUDAVISION_CHECK_CUDA(error);
  if (error != cudaErrorNoKernelImageForDevice && error != cudaErrorInvalidDeviceFunction) return status;
  return {Status::Code::no_device, "no code for this device in this build: " + status.text()};
}

}  // namespace cudavision
