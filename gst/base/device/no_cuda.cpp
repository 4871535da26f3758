// SPDX-License-Identifier: LGPL-2.1-or-later
// Stubs for a build without CUDA: no context can be opened, and functions that need one are never called.
#include "cuda/common/backends.h"
#include "gst/base/device/context_sharing.h"
#include "gst/base/device/device_context.h"
#include "gst/base/device/process_context.h"
#include "gst/base/device/stream_wait.h"
#include "gst/base/frame/allocation.h"
#include "gst/base/frame/frame_memory.h"

namespace cudavision {

struct DeviceContext::Handles {};

bool DeviceContext::in_this_build() { return false; }
Status DeviceContext::open(GstCudaContext *, std::shared_ptr<DeviceContext> *) {
  return no_cuda_in_this_build();
}
DeviceContext::~DeviceContext() = default;
GstCudaContext *DeviceContext::handle() const { return nullptr; }
CUstream_st *DeviceContext::stream() const { return nullptr; }
int DeviceContext::device_id() const { return -1; }
Status DeviceContext::synchronize() { return {}; }
CUevent_st *DeviceContext::oldest_pending() const { return nullptr; }
Status DeviceContext::wait_for_pending() { return {}; }
void DeviceContext::share_stream(GstStructure *) const {}
Status DeviceContext::let_wait(CUstream_st *) { return {}; }
Status DeviceContext::wait_for(CUstream_st *) { return {}; }

FrameOrder::FrameOrder(DeviceContext *, GstBuffer *) : can_stay_pending_(false) {}
Status FrameOrder::begin() { return {}; }
Input FrameOrder::input() const { return Input::in_stream_order; }
Status FrameOrder::leave_pending(const FrameOrder *) { return {}; }
void FrameOrder::finish() {}

DeviceContext::Scope::Scope(const DeviceContext *context) : context_(context) {}
DeviceContext::Scope::~Scope() = default;
Status DeviceContext::Scope::status() const { return {}; }

struct StreamWait::Event {};
StreamWait::StreamWait(std::unique_ptr<Event> event) : event_(std::move(event)) {}
StreamWait::~StreamWait() = default;
Status StreamWait::make(std::unique_ptr<StreamWait> *) { return no_cuda_in_this_build(); }
Status StreamWait::wait(CUstream_st *) { return {}; }
Status StreamWait::wait(CUevent_st *, CUstream_st *) { return {}; }

GstCudaContext *context_of(GstBuffer *) { return nullptr; }
bool same_context(GstCudaContext *, GstCudaContext *) { return false; }
bool is_primary_context(GstCudaContext *) { return false; }
int device_of(GstCudaContext *) { return -1; }

Status ContextSharing::find(GstElement *, int) { return no_cuda_in_this_build(); }
Status ContextSharing::acquire(GstElement *, int, std::shared_ptr<DeviceContext> *) {
  return no_cuda_in_this_build();
}
void ContextSharing::replace(GstCudaContext *) {}
void ContextSharing::pause() {}
void ContextSharing::release() {}
void ContextSharing::take(GstElement *, GstContext *, int) {}
bool ContextSharing::answer(GstElement *, int, GstQuery *) { return false; }

void offer_frames() {}
bool offer_memory(GstQuery *, const std::shared_ptr<DeviceContext> &) { return false; }

}  // namespace cudavision
