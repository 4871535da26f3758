// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA context of an element, as a GstCudaContext, and the stream on which the element works. The base class and
// the elements use CUDA only through this class. A build without CUDA has the class, but cannot open a context.
#pragma once

#include <gst/gst.h>

#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/launch_gate.h"

typedef struct _GstCudaContext GstCudaContext;
struct CUevent_st;

namespace cudavision {

// The flag with which gst_buffer_map() returns a device pointer. It equals GST_MAP_CUDA of GStreamer's CUDA library,
// which a build without CUDA does not need.
constexpr guint kMapCuda = guint{GST_MAP_FLAG_LAST} << 1;

class DeviceContext {
 public:
  static bool in_this_build();  // false in a build without CUDA
  // Takes a reference to the context. Fails with no_device if this build has no code for its device.
  static Status open(GstCudaContext *context, std::shared_ptr<DeviceContext> *opened);
  // The caller must have freed all memory that it allocated in the context, and the stream must be idle.
  ~DeviceContext();

  GstCudaContext *handle() const;
  CUstream_st *stream() const;
  int device_id() const;
  // Waits for the stream. Returns errors of its kernels.
  Status synchronize();

  // The event at the end of the oldest of the last kMostPending pending frames, which were passed on while the GPU
  // still worked on them (FrameOrder::leave_pending()); null if there were fewer.
  static constexpr int kMostPending = 2;
  CUevent_st *oldest_pending() const;
  // let_wait() makes the stream `other` wait for the work that is on this context's stream now; wait_for() makes this
  // context's stream wait for the work that is on `other`. The host does not wait. `other` may belong to any library.
  // It is a handle of the CUDA runtime: null is the legacy default stream, 2 the per-thread default stream.
  // Thread-safe. The context must be current.
  Status let_wait(CUstream_st *other);
  Status wait_for(CUstream_st *other);
  // Waits for all pending frames. Returns errors of their kernels. Thread-safe.
  Status wait_for_pending();
  // Asks writers of the pool's buffers to work on this stream. Does nothing if built with GStreamer before 1.24.
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
    LaunchGate *gate_before_ = nullptr;  // of this thread
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

// Orders the work on one frame among the streams that use the frame's memory: the producer's, this element's and those
// of later users. Does nothing for a frame that is not in CUDA memory of the context.
class FrameOrder {
 public:
  // context: the context of the buffer's CUDA memory; null for other memory. Construct it before the frame is mapped:
  // mapping takes a reference to the memory, and can_stay_pending() depends on the number of references.
  FrameOrder(DeviceContext *context, GstBuffer *buffer);

  // Whether the frame may be passed on while the stream still works on it. This needs GStreamer 1.24, and a buffer and
  // memory that nobody shares, because a sharer may read or clear the memory's flags at the same time.
  bool can_stay_pending() const { return can_stay_pending_; }
  // Makes the stream, or else the host, wait for the frame's producer. Call it after the frame is mapped, because
  // mapping shared memory for writing replaces it by a copy, and before the stream reads or writes the frame.
  Status begin();
  // Whether kernels may read the frame before the work that is already on the stream is done. Call it after begin().
  Input input() const;
  // Call one of these at the end: leave_pending() when all work on the frame is enqueued and the frame is about to be
  // passed on, or finish() when the stream has written the frame and was synchronised. read: another frame that the
  // same work reads, or null.
  Status leave_pending(const FrameOrder *read);
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
