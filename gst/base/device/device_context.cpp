// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/device/device_context.h"

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "cuda/common/check_cuda.h"
#include "cuda/common/launch_gate.h"
#include "cuda/common/probe.h"
#include "gst/base/device/gst_cuda.h"

namespace cudavision {

static_assert(kMapCuda == guint{GST_MAP_CUDA});

namespace {

GstCudaMemory *memory_of(GstBuffer *buffer) {
  return GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0));
}

}  // namespace

struct DeviceContext::Handles {
  Handles(GstCudaContext *referenced, int id)
      : context(referenced), device_id(id), gate(LaunchGate::of_device(id)) {}

  GstCudaContext *context;
  int device_id;
  LaunchGate &gate;
  gst_cuda::Stream stream = nullptr;
  // Events at the ends of the pending frames (FrameOrder::leave_pending()), used round-robin.
  cudaEvent_t frame_end[kMostPending] = {};
  cudaEvent_t producer_end = nullptr;
  std::mutex mutex;
  cudaEvent_t order = nullptr;                   // guarded by mutex
  std::atomic<std::uint64_t> pending_frames{0};  // number of frames left pending so far
};

DeviceContext::DeviceContext(std::unique_ptr<Handles> handles) : handles_(std::move(handles)) {}

bool DeviceContext::in_this_build() { return true; }

Status DeviceContext::open(GstCudaContext *context, std::shared_ptr<DeviceContext> *opened) {
  auto *referenced = GST_CUDA_CONTEXT(gst_object_ref(context));
  const std::shared_ptr<DeviceContext> made(
      new DeviceContext(std::unique_ptr<Handles>(new Handles(referenced, device_of(context)))));
  const Scope scope(made.get());
  CUDAVISION_TRY(scope.status());
  CUDAVISION_TRY(probe_kernels());
  const Allocation announced;
  CUDAVISION_TRY(gst_cuda::make_stream(context, &made->handles_->stream));
  CUDAVISION_TRY(made->make_events());
  *opened = made;
  return {};
}

DeviceContext::~DeviceContext() {
  if (handles_->stream != nullptr) {
    const Scope scope(this);
    const Allocation announced;
    for (cudaEvent_t event : handles_->frame_end)
      if (event != nullptr) (void)cudaEventDestroy(event);
    for (cudaEvent_t event : {handles_->producer_end, handles_->order})
      if (event != nullptr) (void)cudaEventDestroy(event);
    gst_cuda::destroy_stream(handles_->stream);
  }
  gst_object_unref(handles_->context);
}

GstCudaContext *DeviceContext::handle() const { return handles_->context; }
CUstream_st *DeviceContext::stream() const { return gst_cuda::handle_of(handles_->stream); }
int DeviceContext::device_id() const { return handles_->device_id; }
Status DeviceContext::synchronize() { return CUDAVISION_CHECK_CUDA(cudaStreamSynchronize(stream())); }

// Created without cudaEventBlockingSync: no thread sleeps on these events, and a blocking event raises an
// interrupt each time it is reached, which keeps a thread of the driver busy.
Status DeviceContext::make_events() {
  const auto make = [](cudaEvent_t *event) {
    return CUDAVISION_CHECK_CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  };
  for (cudaEvent_t &event : handles_->frame_end) CUDAVISION_TRY(make(&event));
  CUDAVISION_TRY(make(&handles_->order));
  return make(&handles_->producer_end);
}

CUevent_st *DeviceContext::oldest_pending() const {
  const std::uint64_t frames = handles_->pending_frames;
  return frames < kMostPending ? nullptr : handles_->frame_end[frames % kMostPending];
}

Status DeviceContext::let_wait(CUstream_st *other) { return order(stream(), other); }
Status DeviceContext::wait_for(CUstream_st *other) { return order(other, stream()); }

Status DeviceContext::order(CUstream_st *first, CUstream_st *second) {
  const std::lock_guard lock(handles_->mutex);
  CUDAVISION_TRY_CUDA(cudaEventRecord(handles_->order, first));
  return CUDAVISION_CHECK_CUDA(cudaStreamWaitEvent(second, handles_->order, 0));
}

Status DeviceContext::wait_for_pending() { return handles_->pending_frames == 0 ? Status() : synchronize(); }

void DeviceContext::share_stream(GstStructure *pool_config) const {
  gst_cuda::share_stream(pool_config, handles_->stream);
}

DeviceContext::Scope::Scope(const DeviceContext *context) : context_(context) {
  pushed_ = context != nullptr && gst_cuda_context_push(context->handle());
  if (pushed_) gate_before_ = LaunchGate::set_current(&context->handles_->gate);
}

DeviceContext::Scope::~Scope() {
  if (!pushed_) return;
  LaunchGate::set_current(gate_before_);
  gst_cuda_context_pop(nullptr);
}

Status DeviceContext::Scope::status() const {
  if (context_ == nullptr || pushed_) return {};
  return {Status::Code::device_failed,
          "the context of CUDA device " + std::to_string(context_->device_id()) + " cannot be used any more"};
}

FrameOrder::FrameOrder(DeviceContext *context, GstBuffer *buffer)
    : context_(context),
      buffer_(buffer),
      can_stay_pending_(context != nullptr && gst_buffer_is_writable(buffer) &&
                        GST_MINI_OBJECT_REFCOUNT_VALUE(memory_of(buffer)) == 1 &&
                        gst_cuda::carries_stream(memory_of(buffer))) {}

Status FrameOrder::begin() {
  if (context_ == nullptr) return {};
  const DeviceContext::Handles &handles = *context_->handles_;
  if (can_stay_pending_)
    return gst_cuda::order_behind_producer(memory_of(buffer_), handles.stream, handles.producer_end);
  gst_cuda::wait_for_producer(memory_of(buffer_), handles.stream);
  return {};
}

Input FrameOrder::input() const {
  return context_ != nullptr && gst_cuda::is_complete(memory_of(buffer_), context_->handles_->stream)
             ? Input::complete
             : Input::in_stream_order;
}

Status FrameOrder::leave_pending(const FrameOrder *read) {
  DeviceContext::Handles &handles = *context_->handles_;
  const std::uint64_t frame = handles.pending_frames;
  const cudaEvent_t end = handles.frame_end[frame % DeviceContext::kMostPending];
  CUDAVISION_TRY_CUDA(cudaEventRecord(end, context_->stream()));
  handles.pending_frames = frame + 1;
  if (read != nullptr) CUDAVISION_TRY(gst_cuda::leave_pending(memory_of(read->buffer_), handles.stream, end));
  return gst_cuda::leave_pending(memory_of(buffer_), handles.stream, end);
}

void FrameOrder::finish() {
  if (context_ != nullptr) gst_cuda::mark_finished(memory_of(buffer_));
}

GstCudaContext *context_of(GstBuffer *buffer) {
  if (gst_buffer_n_memory(buffer) != 1) return nullptr;
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  return gst_is_cuda_memory(memory) ? GST_CUDA_MEMORY_CAST(memory)->context : nullptr;
}

bool same_context(GstCudaContext *a, GstCudaContext *b) {
  return a == b || gst_cuda_context_get_handle(a) == gst_cuda_context_get_handle(b);
}

int device_of(GstCudaContext *context) {
  guint id = 0;
  g_object_get(context, "cuda-device-id", &id, nullptr);
  return static_cast<int>(id);
}

}  // namespace cudavision
