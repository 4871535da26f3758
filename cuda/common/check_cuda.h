// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts CUDA error codes into Status, with the failed call, its file and line, and CUDA's error text.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "cuda/common/status.h"

namespace cudavision {

inline Status check_cuda(cudaError_t error, const char *call, const char *file, int line) {
  if (error == cudaSuccess) return {};
  (void)cudaGetLastError();  // clears the error, so that the next launch does not report it again
  const Status::Code code = error == cudaErrorMemoryAllocation            ? Status::Code::out_of_memory
                            : error == cudaErrorCooperativeLaunchTooLarge ? Status::Code::too_many_blocks
                            : error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver
                                ? Status::Code::no_device
                                : Status::Code::device_failed;
  return {code, std::string(call) + " failed: " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) +
                    ") at " + file + ":" + std::to_string(line)};
}

}  // namespace cudavision

#define CUDAVISION_CHECK_CUDA(call) ::cudavision::check_cuda((call), #call, __FILE__, __LINE__)
// Returns from the enclosing function unless the CUDA call succeeds.
#define CUDAVISION_TRY_CUDA(call) CUDAVISION_TRY(CUDAVISION_CHECK_CUDA(call))
