// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA context of an element, as a GstCudaContext, and the stream on which the element works. The base
// class and the elements use CUDA only through this class. A build without CUDA has the class, but cannot
// open a context.
#pragma once

#include <gst/gst.h>

#include <memory>

#include "cuda/common/execution.h"

typedef struct _GstCudaContext GstCudaContext;
struct CUevent_st;

namespace cudavision {

// The flag that maps device memory for code that runs on the device. Equal to GStreamer's GST_MAP_CUDA, whose
// library a build without CUDA does not need.
constexpr guint kMapCuda = guint{GST_MAP_FLAG_LAST} << 1;

class DeviceContext {
 public:
  static bool in_this_build();  // false in a build without CUDA
  // Takes a reference to the context. Fails with no_device if this build has no code for its device.
  static Status open(GstCudaContext *context, std::shared_ptr<const DeviceContext> *opened);
  // The caller must have freed everything on the device, and the stream must be idle.
  ~DeviceContext();

  GstCudaContext *handle() const;
  CUstream_st *stream() const;
  int device_id() const;
  // Waits for the stream. Returns errors of its kernels.
  Status synchronize() const;

  // The next three take a buffer that consists of CUDA memory of this context.
  void wait_for_producer(GstBuffer *buffer) const;  // call before the stream reads or writes it
  bool is_complete(GstBuffer *buffer) const;        // no work that writes it is pending
  void mark_finished(GstBuffer *buffer) const;  // call after the stream has written it and is synchronised

  // Frames may be passed on while the stream still works on them, at most kMostPending at a time. This needs
  // GStreamer 1.24 and memory that no other buffer shares, because a sharer may read the memory's flags at
  // the same time.
  static constexpr int kMostPending = 2;
  bool can_leave_pending(GstBuffer *buffer) const;
  Status order_behind_producer(GstBuffer *buffer) const;  // call before the stream reads or writes it
  Status leave_pending(GstBuffer *buffer) const;          // call instead of waiting for the stream
  // The event at the end of the oldest of kMostPending pending frames; null if fewer frames are pending.
  CUevent_st *oldest_pending() const;
  // let_wait() makes another stream wait for the work that has been put on this one so far; wait_for() makes this one wait
  // for the other. The other stream may belong to any library. It is a handle of the CUDA runtime: null is the legacy
  // default stream, 2 that of the thread. The host does not wait.
  // Thread-safe. The context must be current.
  Status let_wait(CUstream_st *other) const;
  Status wait_for(CUstream_st *other) const;
  // Waits for all pending frames. Returns errors of their kernels. Thread-safe.
  Status wait_for_pending() const;
  // Asks that writers to the pool's buffers do so on this stream, if GStreamer supports it (1.24).
  void share_stream(GstStructure *pool_config) const;

  // Makes the context current on this thread for its lifetime (RAII). Required around every call into cuda/.
  // Does nothing for a null context.
  class Scope {
   public:
    explicit Scope(const DeviceContext *context);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

    // Returns an error if the context could not be made current. The caller must then not call into cuda/.
    Status status() const;

   private:
    const DeviceContext *context_;
    bool pushed_ = false;
  };

 private:
  struct Handles;

  explicit DeviceContext(std::unique_ptr<Handles> handles);
  Status make_events() const;
  // Makes the second stream wait for the work that is on the first one.
  Status order(CUstream_st *first, CUstream_st *second) const;

  std::unique_ptr<Handles> handles_;
};

// The context of a buffer that consists of CUDA memory; null for any other buffer.
GstCudaContext *context_of(GstBuffer *buffer);
int device_of(GstCudaContext *context);
// Returns true if both wrap the same CUDA context. Neither may be null.
bool same_context(GstCudaContext *a, GstCudaContext *b);

}  // namespace cudavision
