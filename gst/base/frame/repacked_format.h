// SPDX-License-Identifier: LGPL-2.1-or-later
// Formats that the algorithms do not read: more than 8 bits, planar RGB, alpha in front. Elements work on a
// copy of the frame in a format of 8 bits (cuda/repack/repack.h).
#pragma once

#include <gst/video/video.h>

#include <string>

#include "cuda/repack/repack.h"

namespace cudavision {

// The names of these formats, separated by commas, as in the list of formats in caps. GStreamer's CUDA memory
// has no grey format.
std::string repacked_formats(bool in_cuda_memory);

// Returns true if elements work on a copy of frames of this format.
bool is_repacked(GstVideoFormat format);

// The frames that the algorithms see: `info` or, for a repacked format, the 8-bit copy of the same size and
// colorimetry.
GstVideoInfo working_info(const GstVideoInfo &info);

// Describes a frame of a repacked format (`wide`) and its 8-bit copy (`eight`), both in the backend's memory. range:
// which values of 16-bit grey become 0 to 255.
RepackedFrame repacked_frame(const GstVideoInfo &info, const Planes &wide, const Planes &eight,
                             const GrayRange &range);

}  // namespace cudavision
