// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/device/context_sharing.h"

#include <gst/base/gstbasetransform.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "gst/base/device/gst_cuda.h"
#include "gst/base/device/process_context.h"

namespace cudavision {
namespace {

Status check_driver(CUresult result, const char *call) {
  if (result == CUDA_SUCCESS) return {};
  const char *text = nullptr;
  CuGetErrorString(result, &text);
  return {Status::Code::no_device,
          std::string(call) + " failed: " + (text != nullptr ? text : "unknown error")};
}

// Checks that the device exists (device_id -1: any device). The error says whether the driver or the device is missing,
// where GStreamer would only report a failure.
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

bool asks_for_cuda_context(GstQuery *query) {
  const gchar *type = nullptr;
  return gst_query_parse_context_type(query, &type) && g_strcmp0(type, GST_CUDA_CONTEXT_TYPE) == 0;
}

// Wraps the CUDA context in a GstContext that bins and elements drop in the state NULL, unlike one from
// gst_context_new_cuda_context(): the CUDA context must not outlive the last pipeline that plays.
GstContext *make_transient(GstCudaContext *context) {
  GstContext *transient = gst_context_new(GST_CUDA_CONTEXT_TYPE, FALSE);
  gst_structure_set(gst_context_writable_structure(transient), GST_CUDA_CONTEXT_TYPE, GST_TYPE_CUDA_CONTEXT,
                    context, "cuda-device-id", G_TYPE_UINT, static_cast<guint>(device_of(context)), nullptr);
  return transient;
}

}  // namespace

GstCudaContext *ContextSharing::ref_context() {
  const std::lock_guard lock(mutex_);
  return context_ != nullptr ? GST_CUDA_CONTEXT(gst_object_ref(context_)) : nullptr;
}

void ContextSharing::ask_neighbour(GstElement *element, GstPad *pad, int device_id) {
  g_autoptr(GstQuery) query = gst_query_new_context(GST_CUDA_CONTEXT_TYPE);
  GstContext *theirs = nullptr;
  if (gst_pad_peer_query(pad, query)) gst_query_parse_context(query, &theirs);
  if (theirs != nullptr) take(element, theirs, device_id);
}

Status ContextSharing::use_process_context(GstElement *element, int device_id) {
  GstCudaContext *shared = nullptr;
  CUDAVISION_TRY(share_process_context(std::max(device_id, 0), &shared));
  {
    const std::lock_guard lock(mutex_);
    if (context_ == nullptr) context_ = GST_CUDA_CONTEXT(gst_object_ref(shared));
  }
  // Bins keep the context for elements that are added later, such as the decoders of decodebin.
  gst_element_post_message(element,
                           gst_message_new_have_context(GST_OBJECT(element), make_transient(shared)));
  gst_object_unref(shared);
  return {};
}

Status ContextSharing::find(GstElement *element, int device_id) {
  {
    const std::lock_guard lock(mutex_);
    if (working_) return {};  // cuda-device-id applies from the next start
  }
  CUDAVISION_TRY(look_for_device(device_id));
  gst_cuda_memory_init_once();  // required for pools to find the allocator
  {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr && device_id >= 0 && device_of(context_) != device_id)
      gst_clear_object(&context_);
    if (context_ != nullptr || finding_) return {};
    finding_ = true;
  }
  const auto end_search = [](ContextSharing *sharing) {
    const std::lock_guard lock(sharing->mutex_);
    sharing->finding_ = false;
  };
  const std::unique_ptr<ContextSharing, decltype(end_search)> search(this, end_search);
  const auto has_one = [this] {
    const std::lock_guard lock(mutex_);
    return context_ != nullptr;
  };
  // The application may have set the context on this element before an earlier run.
  if (GstContext *kept = gst_element_get_context(element, GST_CUDA_CONTEXT_TYPE); kept != nullptr) {
    take(element, kept, device_id);
    gst_context_unref(kept);
  }
  for (GstPad *pad : {GST_BASE_TRANSFORM_SRC_PAD(element), GST_BASE_TRANSFORM_SINK_PAD(element)})
    if (!has_one()) ask_neighbour(element, pad, device_id);
  if (!has_one())
    gst_element_post_message(element,
                             gst_message_new_need_context(GST_OBJECT(element), GST_CUDA_CONTEXT_TYPE));
  return has_one() ? Status() : use_process_context(element, device_id);
}

Status ContextSharing::acquire(GstElement *element, int device_id, std::shared_ptr<DeviceContext> *context) {
  CUDAVISION_TRY(find(element, device_id));
  GstCudaContext *found = begin_work();
  if (found == nullptr) {  // another thread is still searching
    CUDAVISION_TRY(use_process_context(element, device_id));
    found = begin_work();
  }
  const std::unique_ptr<GstCudaContext, decltype(&gst_object_unref)> owned(found, gst_object_unref);
  const Status status = DeviceContext::open(found, context);
  if (!status.ok()) release();
  return status;
}

// Until pause(), contexts that others offer (take()) no longer replace the element's own; only replace() does.
GstCudaContext *ContextSharing::begin_work() {
  const std::lock_guard lock(mutex_);
  working_ = context_ != nullptr;
  return working_ ? GST_CUDA_CONTEXT(gst_object_ref(context_)) : nullptr;
}

void ContextSharing::replace(GstCudaContext *context) {
  const std::lock_guard lock(mutex_);
  gst_object_replace(reinterpret_cast<GstObject **>(&context_), GST_OBJECT_CAST(context));
}

void ContextSharing::pause() {
  const std::lock_guard lock(mutex_);
  working_ = false;
}

void ContextSharing::release() {
  pause();
  replace(nullptr);
}

void ContextSharing::take(GstElement *element, GstContext *context, int device_id) {
  GstCudaContext *given = nullptr;
  if (!gst_cuda_handle_set_context(element, context, device_id, &given) || given == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr && !working_ && is_process_context(context_)) gst_clear_object(&context_);
    if (context_ == nullptr) std::swap(context_, given);
  }
  gst_clear_object(&given);
}

bool ContextSharing::answer(GstElement *element, int device_id, GstQuery *query) {
  if (!asks_for_cuda_context(query)) return false;
  if (!find(element, device_id).ok()) return false;
  GstCudaContext *context = ref_context();
  if (context == nullptr) return false;
  GstContext *transient = make_transient(context);
  gst_query_set_context(query, transient);
  gst_context_unref(transient);
  gst_object_unref(context);
  return true;
}

}  // namespace cudavision
