// SPDX-License-Identifier: LGPL-2.1-or-later
// A buffer mapped as a video frame, in the memory that suits its backend best.
#pragma once

#include <gst/video/video.h>

#include <string>

#include "cuda/common/frame.h"
#include "gst/base/device/device_context.h"
#include "gst/base/frame/format.h"

namespace cudavision {

// Removes from an allocation query what elements do not honour in frames, so that upstream does not rely on it: crops
// (which are honoured where they come nevertheless), affine transformations, overlays that are to be blended later,
// textures, and whatever is unknown.
void keep_honoured_metas(GstQuery *allocation);

// Unmaps the frame in its destructor (RAII). The buffer stays writable meanwhile, so that metas can be added.
class MappedFrame {
 public:
  // context: the context of the CUDA backend; null for the CPU backend. CUDA memory of that context is mapped
  // on the device, all other memory for the CPU.
  MappedFrame(GstBuffer *buffer, const GstVideoInfo &info, bool write, DeviceContext *context);
  ~MappedFrame();
  MappedFrame(const MappedFrame &) = delete;
  MappedFrame &operator=(const MappedFrame &) = delete;

  // Returns false if memory that is not system memory could not be mapped, or if the buffer is too small.
  bool mapped() const { return mapped_; }
  // Returns false if the buffer is not mapped, or if its GstVideoMeta or GstVideoCropMeta does not fit its memory.
  bool fits() const { return fits_; }
  // Why it does not fit, with sizes and strides, and what to do.
  std::string misfit() const;
  const Planes &planes() const { return planes_; }
  bool on_device() const { return on_device_; }
  // With what the work on the frame begins and ends.
  FrameOrder &order() { return order_; }

 private:
  bool crop(PlaneOffsets *offsets) const;

  GstBuffer *buffer_;
  const GstVideoInfo &info_;
  bool on_device_, mapped_ = false, fits_ = false;
  FrameOrder order_;
  GstVideoFrame frame_ = {};
  Planes planes_;
};

}  // namespace cudavision
