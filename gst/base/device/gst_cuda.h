// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's CUDA library and the differences between its versions. Only sources that are built with CUDA
// include this header.
//
// GStreamer 1.22 has no streams: the producer of CUDA memory waits for its work before it passes the buffer on. From
// 1.24 on, a stream travels with the memory, and the flag NEED_SYNC says that work may be pending on it. These rules
// keep a frame from being used too early:
//   - A user of the memory's own stream needs nothing else. A user of another stream waits for the memory's stream if
//     NEED_SYNC is set: by gst_cuda_memory_sync, as GStreamer's elements do, or by an event, as here.
//   - Mapping for the CPU copies on the memory's stream and waits for it.
//   - Memory is freed after a wait for its stream if NEED_SYNC is set, and cuMemFree waits for the whole device.
//   - A pool may reuse a buffer at once. Work of the new owner on the memory's stream is ordered behind the old work,
//     and NEED_SYNC stays set for an owner that uses another stream.
// Therefore code that leaves work on another stream pending makes the memory's stream wait for it and sets the flag.
#pragma once

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#include <gst/gst.h>

#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/cuda/gstcudastream.h>
#else
#include <gmodule.h>
#endif

#include "cuda/common/check_cuda.h"
#include "cuda/common/status.h"

namespace cudavision::gst_cuda {

// make_stream() makes a stream of the current context. It is a blocking stream, for which the default stream waits,
// because GStreamer 1.22 downloads on the default stream.
#if GST_CHECK_VERSION(1, 24, 0)

using Stream = GstCudaStream *;

inline Status make_stream(GstCudaContext *context, Stream *stream) {
  *stream = gst_cuda_stream_new(context);
  return *stream != nullptr ? Status()
                            : Status(Status::Code::device_failed,
                                     "gst_cuda_stream_new failed: no CUDA stream could be made");
}
inline CUstream_st *handle_of(Stream stream) { return gst_cuda_stream_get_handle(stream); }
inline void destroy_stream(Stream stream) { gst_cuda_stream_unref(stream); }

// Returns true if the memory has a stream: then work on it may be pending when its buffer is passed on.
inline bool carries_stream(GstCudaMemory *memory) { return gst_cuda_memory_get_stream(memory) != nullptr; }

// Makes the host wait until our stream may use the memory.
inline void wait_for_producer(GstCudaMemory *memory, Stream ours) {
  if (gst_cuda_memory_get_stream(memory) != ours) gst_cuda_memory_sync(memory);
}
inline bool is_synchronized(GstCudaMemory *memory) {
  return !GST_MEMORY_FLAG_IS_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
}
// Returns true if no work that writes the memory is pending. If the memory's stream is ours, the flag proves nothing,
// because another user clears it before it has waited for the stream; but then our work is ordered by the stream.
inline bool is_complete(GstCudaMemory *memory, Stream ours) {
  return gst_cuda_memory_get_stream(memory) != ours && is_synchronized(memory);
}
// Like wait_for_producer, but our stream waits instead of the host. `event` belongs to our context and may be
// reused afterwards.
inline Status order_behind_producer(GstCudaMemory *memory, Stream ours, cudaEvent_t event) {
  GstCudaStream *theirs = gst_cuda_memory_get_stream(memory);
  if (theirs == nullptr || theirs == ours || is_synchronized(memory)) return {};
  CUDAVISION_TRY_CUDA(cudaEventRecord(event, gst_cuda_stream_get_handle(theirs)));
  return CUDAVISION_CHECK_CUDA(cudaStreamWaitEvent(gst_cuda_stream_get_handle(ours), event, 0));
}
// The stream of the memory; null if it has none.
inline CUstream_st *stream_of(GstCudaMemory *memory) {
  GstCudaStream *stream = gst_cuda_memory_get_stream(memory);
  return stream != nullptr ? gst_cuda_stream_get_handle(stream) : nullptr;
}
// Tells the next user that work may be pending on the memory's stream. The caller must be the memory's only user.
inline void mark_pending(GstCudaMemory *memory) {
  GST_MINI_OBJECT_FLAG_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
}
// Tells later users that our stream works on the memory until `event`, which our stream has recorded.
inline Status leave_pending(GstCudaMemory *memory, Stream ours, cudaEvent_t event) {
  GstCudaStream *theirs = gst_cuda_memory_get_stream(memory);
  if (theirs != ours) CUDAVISION_TRY_CUDA(cudaStreamWaitEvent(gst_cuda_stream_get_handle(theirs), event, 0));
  mark_pending(memory);
  return {};
}
// Clears NEED_SYNC: no work on the memory is pending. Our stream must be synchronised.
inline void mark_finished(GstCudaMemory *memory) {
  GST_MEMORY_FLAG_UNSET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
}
// Asks writers of the pool's buffers to work on our stream.
inline void share_stream(GstStructure *pool_config, Stream stream) {
  gst_buffer_pool_config_set_cuda_stream(pool_config, stream);
}

#else

using Stream = cudaStream_t;

inline Status make_stream(GstCudaContext *, Stream *stream) {
  return CUDAVISION_CHECK_CUDA(cudaStreamCreateWithFlags(stream, cudaStreamDefault));
}
inline CUstream_st *handle_of(Stream stream) { return stream; }
inline void destroy_stream(Stream stream) { (void)cudaStreamDestroy(stream); }

// The producer has already waited, unless this plugin runs with a newer library than it was built with.
inline void wait_for_producer(GstCudaMemory *memory, Stream) {
  static const auto sync = [] {
    gpointer symbol = nullptr;
    GModule *library = g_module_open("libgstcuda-1.0.so.0", G_MODULE_BIND_LOCAL);
    if (library != nullptr && !g_module_symbol(library, "gst_cuda_memory_sync", &symbol)) symbol = nullptr;
    return reinterpret_cast<void (*)(GstCudaMemory *)>(symbol);
  }();
  if (sync != nullptr) sync(memory);
}
inline bool is_complete(GstCudaMemory *, Stream) { return true; }  // after wait_for_producer()
// This version of GStreamer has no means to tell later users of the memory that work is pending.
inline bool carries_stream(GstCudaMemory *) { return false; }
inline Status order_behind_producer(GstCudaMemory *, Stream, cudaEvent_t) { return {}; }
inline Status leave_pending(GstCudaMemory *, Stream, cudaEvent_t) { return {}; }
inline CUstream_st *stream_of(GstCudaMemory *) { return nullptr; }
inline void mark_pending(GstCudaMemory *) {}
inline void mark_finished(GstCudaMemory *) {}
inline void share_stream(GstStructure *, Stream) {}

#endif

}  // namespace cudavision::gst_cuda
