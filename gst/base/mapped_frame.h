// SPDX-License-Identifier: LGPL-2.1-or-later
// A buffer mapped as a video frame, where its backend can reach it best.
#pragma once

#include <gst/video/video.h>

#include "gst/base/device_context.h"
#include "cuda/common/frame.h"

namespace cudavision {

// Unmapped when it goes. The buffer stays writable meanwhile, for metas.
class MappedFrame {
 public:
  // context: of the CUDA backend; null for the CPU's. CUDA memory of that context is mapped where it lies,
  // all other memory for the CPU.
  MappedFrame(GstBuffer *buffer, const GstVideoInfo &info, bool write, const DeviceContext *context);
  ~MappedFrame();
  MappedFrame(const MappedFrame &) = delete;
  MappedFrame &operator=(const MappedFrame &) = delete;

  // False when memory that is not the system's could not be reached, or the buffer is too small.
  bool mapped() const { return mapped_; }
  // False when it is not mapped, or what the buffer's GstVideoMeta says is not in its memory.
  bool fits() const { return fits_; }
  const Planes &planes() const { return planes_; }
  bool on_device() const { return on_device_; }
  // Whether the frame may be passed on while the stream still works on it.
  bool can_be_left_pending() const { return can_be_left_pending_; }
  // Makes the stream wait for whoever filled the frame: before it is read or written.
  Status order_behind_producer() const;
  // The stream has been given all its work on the frame, which is passed on now.
  Status leave_pending() const { return context_->leave_pending(buffer_); }
  // What was written to it is complete.
  void mark_finished() const;

 private:
  GstBuffer *buffer_;
  const DeviceContext *context_;
  bool on_device_, can_be_left_pending_, written_, mapped_ = false, fits_ = false;
  GstVideoFrame frame_ = {};
  Planes planes_;
};

}  // namespace cudavision
