// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's CUDA contexts for streams_bench, and properties of the device.
#include "tests/bench/harness/cuda_streams.h"

#if CUDAVISION_HAVE_CUDA

#include <cuda_runtime.h>

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudautils.h>

namespace cudavision::bench {
namespace {

GstCudaContext *new_context(std::string *why_not) {
  if (!gst_cuda_load_library()) {
    *why_not = "the NVIDIA driver's library libcuda.so.1 cannot be loaded";
    return nullptr;
  }
  GstCudaContext *context = gst_cuda_context_new(0);
  if (context == nullptr) *why_not = "no context could be made on CUDA device 0";
  return context;
}

}  // namespace

GstContext *make_cuda_context(std::string *why_not) {
  GstCudaContext *context = new_context(why_not);
  if (context == nullptr) return nullptr;
  GstContext *shareable = gst_context_new_cuda_context(context);
  gst_object_unref(context);
  return shareable;
}

std::string cuda_device_name() {
  CUdevice device;
  char name[256] = "";
  if (!gst_cuda_load_library() || CuInit(0) != CUDA_SUCCESS || CuDeviceGet(&device, 0) != CUDA_SUCCESS ||
      CuDeviceGetName(name, sizeof(name), device) != CUDA_SUCCESS)
    return "";
  return name;
}

std::optional<std::int64_t> free_device_memory() {
  std::string why_not;
  static GstCudaContext *const context = new_context(&why_not);  // lives as long as the process
  if (context == nullptr || !gst_cuda_context_push(context)) return std::nullopt;
  std::size_t free_bytes = 0, all_bytes = 0;
  const cudaError_t error = cudaMemGetInfo(&free_bytes, &all_bytes);
  gst_cuda_context_pop(nullptr);
  if (error != cudaSuccess) return std::nullopt;
  return static_cast<std::int64_t>(free_bytes);
}

}  // namespace cudavision::bench

#else

namespace cudavision::bench {

GstContext *make_cuda_context(std::string *why_not) {
  *why_not = "this build has no CUDA";
  return nullptr;
}

std::string cuda_device_name() { return ""; }

std::optional<std::int64_t> free_device_memory() { return std::nullopt; }

}  // namespace cudavision::bench

#endif
