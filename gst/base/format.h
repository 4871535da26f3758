// SPDX-License-Identifier: LGPL-2.1-or-later
// Between GStreamer's description of video and that of cuda/: formats, planes, colours.
#pragma once

#include <gst/video/video.h>

#include "cuda/common/frame.h"

namespace cudavision {

// What every element takes on both pads, a reference of the caller's: CUDA memory first, if this build has
// CUDA.
GstCaps *template_caps();
// The part of caps that lies in system memory, as a reference of the caller's.
GstCaps *in_system_memory(GstCaps *caps);
bool asks_for_cuda_memory(const GstCaps *caps);
// Whether CUDA memory exists in this format.
bool has_cuda_memory(GstVideoFormat format);

PixelLayout pixel_layout(const GstVideoInfo &info);

// The planes of a frame of this format without data: their sizes in rows and bytes.
Planes planes_shape(const GstVideoInfo &info);
// The planes of a mapped frame of this format, with the strides that it really has. Fails when rows overlap
// or leave the memory of the frame, as a GstVideoMeta can say that does not fit its buffer.
bool planes_of(const GstVideoFrame &frame, const GstVideoInfo &info, Planes *planes);

// The weights of red and blue, and where components 0 to 2 begin and how far they reach, as the colorimetry
// of a YUV format says; BT.601 where it does not say.
struct YuvRange {
  gdouble kr = 0.299, kb = 0.114;
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
};
YuvRange yuv_range_of(const GstVideoInfo &info);

// argb: 0xAARRGGBB. Converted to the frame's components by the matrix and range of its colorimetry.
Color color_of(guint32 argb, const GstVideoInfo &info);

}  // namespace cudavision
