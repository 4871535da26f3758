// SPDX-License-Identifier: LGPL-2.1-or-later
// Gives the library of metas (gst/meta) access to frames in GStreamer's CUDA memory.
#include "gst/base/frame/frame_memory.h"

#include <cuda_runtime.h>

#include "gst/base/device/device_context.h"
#include "gst/base/device/gst_cuda.h"
#include "gst/base/device/process_context.h"
#include "gst/meta/device_memory.h"

namespace cudavision {
namespace {

// Calls work() with the memory's context current. Returns false after an error, which it logs.
template <typename Work>
bool in_context(GstMemory *memory, const Work &work) {
  if (!gst_cuda_context_push(GST_CUDA_MEMORY_CAST(memory)->context)) return false;
  const Status status = work();
  gst_cuda_context_pop(nullptr);
  if (!status.ok()) GST_ERROR("a frame cannot be handed over: %s", status.text().c_str());
  return status.ok();
}

// Makes the second stream wait for the work that is now on the first stream.
Status order(CUstream_st *first, CUstream_st *second) {
  cudaEvent_t event = nullptr;
  CUDAVISION_TRY_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  Status status = CUDAVISION_CHECK_CUDA(cudaEventRecord(event, first));
  if (status.ok()) status = CUDAVISION_CHECK_CUDA(cudaStreamWaitEvent(second, event, 0));
  (void)cudaEventDestroy(event);  // CUDA frees the event when it is reached
  return status;
}

bool place(GstMemory *memory, DeviceMemoryAccess::Place *place) {
  GstMapInfo map;
  guint flags = GST_MAP_READ;
  flags |= kMapCuda;  // in a guint, because kMapCuda is outside of the range of GstMapFlags
  if (!gst_memory_map(memory, &map, static_cast<GstMapFlags>(flags))) return false;
  GstCudaContext *context = GST_CUDA_MEMORY_CAST(memory)->context;
  *place = {map.data, device_of(context), is_primary_context(context)};
  gst_memory_unmap(memory, &map);
  return true;
}

bool order_consumer(GstMemory *memory, std::uintptr_t stream) {
  GstCudaMemory *frame = GST_CUDA_MEMORY_CAST(memory);
  CUstream_st *producer = gst_cuda::stream_of(frame);
  if (producer != nullptr)
    return in_context(memory, [&] { return order(producer, stream_of_consumer(stream)); });
  gst_cuda::wait_for_producer(frame, nullptr);
  return true;
}

// Called when the consumer releases the memory: later writers must wait for the consumer's work on `stream`. If the
// memory has a stream, and `alone` is true (nobody else holds the memory or its buffer), the memory's stream waits for
// `stream`, and mark_pending() makes writers wait for the memory's stream. Otherwise the host waits: without a stream,
// writers would not wait at all, and other holders may be reading the flags that mark_pending() writes.
void order_writer(GstMemory *memory, std::uintptr_t stream, bool alone) {
  GstCudaMemory *frame = GST_CUDA_MEMORY_CAST(memory);
  CUstream_st *consumer = stream_of_consumer(stream), *producer = gst_cuda::stream_of(frame);
  (void)in_context(memory, [&]() -> Status {
    if (producer != nullptr && alone && order(consumer, producer).ok()) {
      gst_cuda::mark_pending(frame);
      return {};
    }
    if (cudaStreamSynchronize(consumer) == cudaSuccess) return {};
    return CUDAVISION_CHECK_CUDA(cudaStreamSynchronize(nullptr));  // instead of a stream that was destroyed
  });
}

GstMemory *copy(GstMemory *memory) {
  gst_cuda::wait_for_producer(GST_CUDA_MEMORY_CAST(memory), nullptr);
  return gst_memory_copy(memory, 0, -1);
}

constexpr DeviceMemoryAccess kAccess{
    .place = place, .order_consumer = order_consumer, .order_writer = order_writer, .copy = copy};

}  // namespace

void offer_frames() { offer_device_memory(GST_TYPE_CUDA_ALLOCATOR, &kAccess); }

}  // namespace cudavision
