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
  static Status open(GstCudaContext *context, std::shared_ptr<DeviceContext> *opened);
  // The caller must have freed everything on the device, and the stream must be idle.
  ~DeviceContext();

  GstCudaContext *handle() const;
  CUstream_st *stream() const;
  int device_id() const;
  // Waits for the stream. Returns errors of its kernels.
  Status synchronize();

  // The event at the end of the oldest of kMostPending frames that were left pending (FrameOrder); null if fewer were.
  static constexpr int kMostPending = 2;
  CUevent_st *oldest_pending() const;
  // let_wait() makes another stream wait for the work that has been put on this one so far; wait_for() makes this one wait
  // for the other. The other stream may belong to any library. It is a handle of the CUDA runtime: null is the legacy
  // default stream, 2 that of the thread. The host does not wait.
  // Thread-safe. The context must be current.
  Status let_wait(CUstream_st *other);
  Status wait_for(CUstream_st *other);
  // Waits for all pending frames. Returns errors of their kernels. Thread-safe.
  Status wait_for_pending();
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
  friend class FrameOrder;
  struct Handles;

  explicit DeviceContext(std::unique_ptr<Handles> handles);
  Status make_events();
  // Makes the second stream wait for the work that is on the first one.
  Status order(CUstream_st *first, CUstream_st *second);

  std::unique_ptr<Handles> handles_;
};

// The order of the work on a frame among the streams that use the frame's memory. For a frame that does not lie in the
// context's memory there is nothing to order.
class FrameOrder {
 public:
  // context: null, or that of the CUDA memory of which the buffer consists. Call it before the frame is mapped, which takes
  // a reference to the memory.
  FrameOrder(DeviceContext *context, GstBuffer *buffer);

  // Whether the frame may be passed on while the stream still works on it. This needs GStreamer 1.24 and memory that no
  // other buffer shares, because a sharer may read the memory's flags at the same time.
  bool can_stay_pending() const { return can_stay_pending_; }
  // Call it when the frame is mapped (mapping shared memory for writing puts a copy of it into the buffer) and before the
  // stream reads or writes it: the stream, or the host, waits for the frame's producer.
  Status begin();
  // Whether the frame can be read before the work that the stream holds is done. Call it after begin().
  Input input() const;
  // One of the two ends the work: leave_pending() when all of it is enqueued and the frame is about to be passed on, or
  // finish() when the stream has written the frame and is synchronised.
  Status leave_pending();
  void finish();

 private:
  DeviceContext *context_;
  GstBuffer *buffer_;
  bool can_stay_pending_;
};

// The context of a buffer that consists of CUDA memory; null for any other buffer.
GstCudaContext *context_of(GstBuffer *buffer);
int device_of(GstCudaContext *context);
// Returns true if both wrap the same CUDA context. Neither may be null.
bool same_context(GstCudaContext *a, GstCudaContext *b);

}  // namespace cudavision
