// SPDX-License-Identifier: LGPL-2.1-or-later
// A plane of a video frame as an array.
#pragma once

#include <gst/video/video.h>

#include "gst/meta/array_export.h"

namespace cudavision {

// Sets *layout to an array [rows][columns], or [rows][columns][channels] if the plane holds more than one number for
// each pixel. Returns false if the frame has no such plane, or if the samples are not laid out as an array.
bool layout_plane(GstBuffer *buffer, const GstVideoInfo &info, guint plane, ArrayLayout *layout,
                  GError **error);

}  // namespace cudavision
