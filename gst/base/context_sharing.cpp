// SPDX-License-Identifier: LGPL-2.1-or-later
// How an element comes to its CUDA context and lets others have it.
#include "base/context_sharing.h"

#include <string>
#include <utility>

#include "base/gst_cuda.h"

namespace cudavision {
namespace {

Status check_driver(CUresult result, const char *call) {
  if (result == CUDA_SUCCESS) return {};
  const char *text = nullptr;
  CuGetErrorString(result, &text);
  return {Status::Code::no_device,
          std::string(call) + " failed: " + (text != nullptr ? text : "unknown error")};
}

// That there is a driver and such a device, before GStreamer is asked, who would say no more than that it
// failed.
Status look_for_device(int device_id) {
  if (!gst_cuda_load_library())
    return {Status::Code::no_device, "the NVIDIA driver's library libcuda.so.1 cannot be loaded"};
  CUDAVISION_TRY(check_driver(CuInit(0), "cuInit"));
  int count = 0;
  CUDAVISION_TRY(check_driver(CuDeviceGetCount(&count), "cuDeviceGetCount"));
  if (device_id < count && count > 0) return {};
  return {Status::Code::no_device, "there is no CUDA device " +
                                       std::to_string(device_id < 0 ? 0 : device_id) + ": this machine has " +
                                       std::to_string(count)};
}

}  // namespace

void ContextSharing::forget_other_devices(int device_id) {
  const std::lock_guard lock(mutex_);
  if (context_ != nullptr && device_id >= 0 && device_of(context_) != device_id) gst_clear_object(&context_);
}

Status ContextSharing::acquire(GstElement *element, int device_id,
                               std::shared_ptr<const DeviceContext> *context) {
  CUDAVISION_TRY(look_for_device(device_id));
  gst_cuda_memory_init_once();  // or no pool finds the allocator
  forget_other_devices(device_id);
  // The application may have given it to this element before an earlier run.
  if (GstContext *kept = gst_element_get_context(element, GST_CUDA_CONTEXT_TYPE); kept != nullptr) {
    take(element, kept, device_id);
    gst_context_unref(kept);
  }
  GstCudaContext *found = nullptr;
  {
    const std::lock_guard lock(mutex_);
    gst_object_replace(reinterpret_cast<GstObject **>(&found), GST_OBJECT_CAST(context_));
    asking_ = std::this_thread::get_id();
    found_ = &found;
  }
  gst_cuda_ensure_element_context(element, device_id, &found);
  {
    const std::lock_guard lock(mutex_);
    found_ = nullptr;
    if (context_ == nullptr) std::swap(context_, found);
  }
  gst_clear_object(&found);
  if (context_ == nullptr)
    return {Status::Code::device_failed,
            "no context could be made on CUDA device " + std::to_string(device_id < 0 ? 0 : device_id)};
  const Status status = DeviceContext::open(context_, context);
  if (!status.ok()) release();
  return status;
}

void ContextSharing::replace(GstCudaContext *context) {
  const std::lock_guard lock(mutex_);
  gst_object_replace(reinterpret_cast<GstObject **>(&context_), GST_OBJECT_CAST(context));
}

void ContextSharing::release() { replace(nullptr); }

void ContextSharing::take(GstElement *element, GstContext *context, int device_id) {
  const std::lock_guard lock(mutex_);
  gst_cuda_handle_set_context(element, context, device_id, &context_);
  if (found_ != nullptr && asking_ == std::this_thread::get_id())
    gst_object_replace(reinterpret_cast<GstObject **>(found_), GST_OBJECT_CAST(context_));
}

bool ContextSharing::answer(GstElement *element, GstQuery *query) {
  GstCudaContext *context = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (context_ == nullptr) return false;
    context = GST_CUDA_CONTEXT(gst_object_ref(context_));
  }
  const bool answered = gst_cuda_handle_context_query(element, query, context);
  gst_object_unref(context);
  return answered;
}

}  // namespace cudavision
