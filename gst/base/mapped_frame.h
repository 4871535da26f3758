// SPDX-License-Identifier: LGPL-2.1-or-later
// A buffer mapped as a video frame, where its backend can reach it best.
#pragma once

#include <gst/video/video.h>

#include "base/device_context.h"
#include "common/frame.h"

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
  // What was written to it is complete.
  void mark_finished() const;

 private:
  GstBuffer *buffer_;
  const DeviceContext *context_;
  bool on_device_, written_, mapped_ = false, fits_ = false;
  GstVideoFrame frame_ = {};
  Planes planes_;
};

}  // namespace cudavision
