// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's CUDA library, and all that differs between its versions. 1.22 knows no streams: who works on CUDA
// memory waits for that work before it passes the buffer on. Since 1.24 a stream travels with the memory, and the
// flag NEED_SYNC says that work may be pending there. The rules that keep anybody from using a frame too early:
//   - who uses the memory on its own stream needs nothing else; who uses another one waits for it if NEED_SYNC is set
//     (gst_cuda_memory_sync, which GStreamer's elements call, or an event as here);
//   - a map for the CPU copies on the memory's stream and waits for it;
//   - memory is freed after a wait for its stream if NEED_SYNC is set, and cuMemFree waits for the whole device;
//   - a pool gives a buffer out again at once, but what its new owner does on the memory's stream comes behind, and
//     NEED_SYNC stays set for an owner that uses another one.
// So whoever leaves work on another stream pending makes the memory's stream wait for it, and sets the flag. Only
// sources that are built with CUDA include this.
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

#include "cuda/common/check.h"
#include "cuda/common/status.h"

namespace cudavision::gst_cuda {

// make_stream: a stream of the context, which is pushed. It is a blocking one, which work on the default stream
// waits for: GStreamer 1.22 downloads on that.
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

// Whether work on the memory may be pending when its buffer is passed on.
inline bool carries_stream(GstCudaMemory *memory) { return gst_cuda_memory_get_stream(memory) != nullptr; }

// Waits until the memory can be used on our stream.
inline void wait_for_producer(GstCudaMemory *memory, Stream ours) {
  if (gst_cuda_memory_get_stream(memory) != ours) gst_cuda_memory_sync(memory);
}
// The same, but it is our stream that waits. The event is one of our context's, to be used once more afterwards.
inline Status order_behind_producer(GstCudaMemory *memory, Stream ours, cudaEvent_t event) {
  GstCudaStream *theirs = gst_cuda_memory_get_stream(memory);
  if (theirs == nullptr || theirs == ours ||
      !GST_MEMORY_FLAG_IS_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC))
    return {};
  CUDAVISION_TRY_CUDA(cudaEventRecord(event, gst_cuda_stream_get_handle(theirs)));
  return CUDAVISION_CHECK_CUDA(cudaStreamWaitEvent(gst_cuda_stream_get_handle(ours), event, 0));
}
// Our stream works on the memory until the event, which it has recorded.
inline Status leave_pending(GstCudaMemory *memory, Stream ours, cudaEvent_t event) {
  GstCudaStream *theirs = gst_cuda_memory_get_stream(memory);
  if (theirs != ours) CUDAVISION_TRY_CUDA(cudaStreamWaitEvent(gst_cuda_stream_get_handle(theirs), event, 0));
  GST_MINI_OBJECT_FLAG_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
  return {};
}
// Our stream has written to the memory, and is synchronised.
inline void mark_finished(GstCudaMemory *memory) {
  GST_MEMORY_FLAG_UNSET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
}
// Who writes to buffers of the pool does so on our stream.
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

// The producer has waited, unless this plugin runs with a newer library than it was built with.
inline void wait_for_producer(GstCudaMemory *memory, Stream) {
  static const auto sync = [] {
    gpointer symbol = nullptr;
    GModule *library = g_module_open("libgstcuda-1.0.so.0", G_MODULE_BIND_LOCAL);
    if (library != nullptr && !g_module_symbol(library, "gst_cuda_memory_sync", &symbol)) symbol = nullptr;
    return reinterpret_cast<void (*)(GstCudaMemory *)>(symbol);
  }();
  if (sync != nullptr) sync(memory);
}
// Nobody could be told.
inline bool carries_stream(GstCudaMemory *) { return false; }
inline Status order_behind_producer(GstCudaMemory *, Stream, cudaEvent_t) { return {}; }
inline Status leave_pending(GstCudaMemory *, Stream, cudaEvent_t) { return {}; }
inline void mark_finished(GstCudaMemory *) {}
inline void share_stream(GstStructure *, Stream) {}

#endif

}  // namespace cudavision::gst_cuda
