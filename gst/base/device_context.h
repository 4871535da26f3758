// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA device of an element: GStreamer's context on it and the stream on which the element works. Elements
// and the base class know no more of CUDA than this. A build without CUDA has the class too, but opens none.
#pragma once

#include <gst/gst.h>

#include <memory>

#include "cuda/common/execution.h"

typedef struct _GstCudaContext GstCudaContext;
struct CUevent_st;

namespace cudavision {

// What maps memory of a device for code that runs on it; the same bit as GStreamer's GST_MAP_CUDA, whose
// library a build without CUDA does not need.
constexpr guint kMapCuda = guint{GST_MAP_FLAG_LAST} << 1;

class DeviceContext {
 public:
  // Takes a reference of the context. Fails with no_device when this build has no code for its device.
  static Status open(GstCudaContext *context, std::shared_ptr<const DeviceContext> *opened);
  // Whatever lives on the device must be gone before, and the stream idle.
  ~DeviceContext();

  GstCudaContext *handle() const;
  CUstream_st *stream() const;
  int device_id() const;
  // Waits for the stream; errors of the kernels show here.
  Status synchronize() const;

  // The CUDA memory that a buffer consists of. It must be this context's.
  void wait_for_producer(GstBuffer *buffer) const;  // before our stream reads or writes it
  void mark_finished(GstBuffer *buffer) const;      // our stream has written it, and is synchronised

  // Frames that are passed on while our stream still works on them, at most kMostPending of them. Needs GStreamer
  // 1.24, and memory that nobody else holds: who shares it may look at its flags at the same time.
  static constexpr int kMostPending = 2;
  bool can_leave_pending(GstBuffer *buffer) const;
  Status order_behind_producer(GstBuffer *buffer) const;  // before our stream reads or writes it
  Status leave_pending(GstBuffer *buffer) const;          // instead of waiting for our stream
  // The end of the oldest of kMostPending pending frames; null when there are fewer.
  CUevent_st *oldest_pending() const;
  // Waits for all pending frames; errors of their kernels show here. Thread-safe.
  Status wait_for_pending() const;
  // Who writes to buffers of the pool shall do so on our stream, where GStreamer can say so (1.24).
  void share_stream(GstStructure *pool_config) const;

  // Pushes the context on this thread while it lives: around every call into cuda/. A null context does
  // nothing.
  class Scope {
   public:
    explicit Scope(const DeviceContext *context);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

    // An error when the context could not be pushed: a call into cuda/ would reach another one.
    Status status() const;

   private:
    const DeviceContext *context_;
    bool pushed_ = false;
  };

 private:
  struct Handles;

  explicit DeviceContext(std::unique_ptr<Handles> handles);
  Status make_events() const;

  std::unique_ptr<Handles> handles_;
};

// The context of the CUDA memory that a buffer consists of; null when it consists of anything else.
GstCudaContext *context_of(GstBuffer *buffer);
int device_of(GstCudaContext *context);
// Whether both are the same CUDA context; others may wrap it a second time. Neither may be null.
bool same_context(GstCudaContext *a, GstCudaContext *b);

}  // namespace cudavision
