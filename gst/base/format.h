// SPDX-License-Identifier: LGPL-2.1-or-later
// Between GStreamer's description of video and that of cuda/: formats, planes, colours.
#pragma once

#include <gst/video/video.h>

#include "common/frame.h"

namespace cudavision {

// The formats of system memory that every element takes.
#define CUDAVISION_SYSTEM_FORMATS \
  "{ NV12, I420, GRAY8, RGB, BGR, RGBx, BGRx, RGBA, BGRA, NV21, YV12, Y42B, Y444, YUY2, UYVY }"

PixelLayout pixel_layout(const GstVideoInfo &info);

// The planes of a frame of this format without data: their sizes in rows and bytes.
Planes planes_shape(const GstVideoInfo &info);
// The planes of a mapped frame of this format, with the strides that it really has. Fails when rows overlap
// or leave the memory of the frame, as a GstVideoMeta can say that does not fit its buffer.
bool planes_of(const GstVideoFrame &frame, const GstVideoInfo &info, Planes *planes);

// argb: 0xAARRGGBB. Converted to the frame's components by the matrix and range of its colorimetry.
Color color_of(guint32 argb, const GstVideoInfo &info);

}  // namespace cudavision
