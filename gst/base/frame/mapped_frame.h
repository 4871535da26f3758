// SPDX-License-Identifier: LGPL-2.1-or-later
// A buffer mapped as a video frame, in the memory that suits its backend best.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <string>

#include "cuda/common/frame.h"
#include "gst/base/device/device_context.h"
#include "gst/base/frame/format.h"

namespace cudavision {

// Removes from an allocation query the metas that elements do not honour in frames, so that upstream does not rely on
// them: crops (which are honoured where they come nevertheless), affine transformations, overlays that are to be
// blended later, textures, and all that are unknown.
void keep_honoured_metas(GstQuery *allocation);
// Adds the metas that elements honour in frames.
void offer_honoured_metas(GstQuery *allocation);
// Adds a pool of system memory to an allocation query that names none.
void offer_system_pool(GstQuery *allocation, gsize frame_size);
// A GstBaseTransformClass::transform_meta. Whether a new frame may have a copy of the meta: not if its tags tie it to
// memory, places or colours, or if it is one of GstAnalytics.
gboolean copies_meta_to_new_frame(GstBaseTransform *, GstBuffer *, GstMeta *meta, GstBuffer *);

// Unmaps the frame in its destructor (RAII). The buffer stays writable meanwhile, so that metas can be added.
class MappedFrame {
 public:
  // context: the context of the CUDA backend; null for the CPU backend. CUDA memory of that context is mapped
  // on the device, all other memory for the CPU.
  MappedFrame(GstBuffer *buffer, const GstVideoInfo &info, bool write, DeviceContext *context);
  ~MappedFrame();
  MappedFrame(const MappedFrame &) = delete;
  MappedFrame &operator=(const MappedFrame &) = delete;

  // Returns false if the buffer could not be mapped: its device memory cannot be mapped, it is too small, or its
  // GstVideoMeta contradicts the caps.
  bool mapped() const { return mapped_; }
  // Returns false if the buffer is not mapped, or if its GstVideoMeta or GstVideoCropMeta does not fit its memory.
  bool fits() const { return fits_; }
  // For the user: why the frame does not fit, with sizes and strides, and what to do about it.
  std::string misfit() const;
  GstBuffer *buffer() const { return buffer_; }
  const Planes &planes() const { return planes_; }
  bool on_device() const { return on_device_; }
  // Orders the work on the frame among streams: call begin() before the work, and leave_pending() or finish() after it.
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
