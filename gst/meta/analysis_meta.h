// SPDX-License-Identifier: LGPL-2.1-or-later
// The meta that marks a frame as analysed for a type of objects.
#pragma once

#include <gst/gst.h>

namespace cudavision {

// Adds n_results to the mark that the buffer has for this type, or attaches a new mark. type: null stands for all
// types. Returns false if GStreamer cannot attach a meta to the buffer.
bool mark_analysed(GstBuffer *buffer, const char *type, guint n_results);

}  // namespace cudavision
