// SPDX-License-Identifier: LGPL-2.1-or-later
// Turns CUDA's error codes into Status, with the call, the place and CUDA's own words.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "cuda/common/status.h"

namespace cudavision {

inline Status check_cuda(cudaError_t error, const char *call, const char *file, int line) {
  if (error == cudaSuccess) return {};
  (void)cudaGetLastError();  // the error is reported here: the next launch shall not report it again
  const Status::Code code = error == cudaErrorMemoryAllocation ? Status::Code::out_of_memory
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
