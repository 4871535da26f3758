// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/device.h"

#if CUDAVISION_HAVE_CUDA

#include <cuda_runtime.h>

#include "cuda/common/probe.h"

namespace cudavision::test {

std::string why_no_device() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    return "no CUDA device";
  }
  return probe_kernels().text();
}
std::string take_last_error() {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? "" : cudaGetErrorName(error);
}

bool make_stream(CUstream_st **stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking) == cudaSuccess;
}
bool destroy_stream(CUstream_st *stream) { return cudaStreamDestroy(stream) == cudaSuccess; }
bool wait_for(CUstream_st *stream) { return cudaStreamSynchronize(stream) == cudaSuccess; }
bool allocate_on_device(std::size_t bytes, void **memory) { return cudaMalloc(memory, bytes) == cudaSuccess; }
bool free_on_device(void *memory) { return cudaFree(memory) == cudaSuccess; }
bool copy_to_device(void *memory, const void *bytes, std::size_t count, CUstream_st *stream) {
  return cudaMemcpyAsync(memory, bytes, count, cudaMemcpyHostToDevice, stream) == cudaSuccess &&
         wait_for(stream);
}
bool copy_from_device(void *bytes, const void *memory, std::size_t count, CUstream_st *stream) {
  return cudaMemcpyAsync(bytes, memory, count, cudaMemcpyDeviceToHost, stream) == cudaSuccess &&
         wait_for(stream);
}

}  // namespace cudavision::test

#else

namespace cudavision::test {

std::string why_no_device() { return "this build has no CUDA backend"; }
std::string take_last_error() { return ""; }
bool make_stream(CUstream_st **) { return false; }
bool destroy_stream(CUstream_st *) { return false; }
bool wait_for(CUstream_st *) { return false; }
bool allocate_on_device(std::size_t, void **) { return false; }
bool free_on_device(void *) { return false; }
bool copy_to_device(void *, const void *, std::size_t, CUstream_st *) { return false; }
bool copy_from_device(void *, const void *, std::size_t, CUstream_st *) { return false; }

}  // namespace cudavision::test

#endif
