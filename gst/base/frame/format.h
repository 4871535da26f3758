// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts GStreamer's description of video (formats, planes, colours) to that of cuda/.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <cstddef>

#include "cuda/common/frame.h"

namespace cudavision {

// The width and height of frames of these caps, in pixels.
inline Size size_of(const GstVideoInfo &info) {
  return {GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info)};
}

// The caps of both pads of every element. CUDA memory comes first, if this build has CUDA. The caller owns
// the reference.
GstCaps *template_caps();
// The caps, restricted to video in system memory. The caller owns the reference.
GstCaps *in_system_memory(GstCaps *caps);
// The intersection of `caps` and `wanted`, in the order of `wanted`. A null `wanted`, as the filter of a caps query can
// be, restricts nothing. Takes the reference to `caps`. The caller owns the reference to the result.
GstCaps *restricted_to(GstCaps *caps, GstCaps *wanted);
bool asks_for_cuda_memory(const GstCaps *caps);
// Returns true if GStreamer's CUDA memory supports the format.
bool has_cuda_memory(GstVideoFormat format);

PixelLayout pixel_layout(const GstVideoInfo &info);

// The sizes of the planes of a frame of this format, in rows and bytes, with null data.
Planes planes_shape(const GstVideoInfo &info);
// For each plane of a frame, the number of bytes from its beginning to the first sample of a part of the frame.
using PlaneOffsets = std::array<std::ptrdiff_t, GST_VIDEO_MAX_PLANES>;
// The planes of a mapped frame of this format, or of a part of a larger frame, with the actual strides. Returns false
// if rows overlap or lie outside of the frame's memory, which happens if a GstVideoMeta does not fit its buffer.
bool planes_of(const GstVideoFrame &frame, const GstVideoInfo &info, const PlaneOffsets &offsets,
               Planes *planes);

// The weights of red and blue, and the offsets and scales of components 0 to 2, from the colorimetry of a YUV
// format. The weights default to BT.601.
struct YuvRange {
  gdouble kr = 0.299, kb = 0.114;
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
};
YuvRange yuv_range_of(const GstVideoInfo &info);

// Converts 0xAARRGGBB to the frame's components, by the matrix and range of its colorimetry.
Color color_of(guint32 argb, const GstVideoInfo &info);

}  // namespace cudavision
