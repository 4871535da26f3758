// SPDX-License-Identifier: LGPL-2.1-or-later
// The meta that marks a frame as analysed for a type of objects.
#pragma once

#include <gst/gst.h>

namespace cudavision {

// Adds to the number of results of the mark for the type, or attaches one. type: null stands for all types. Returns false if
// GStreamer refuses the buffer.
bool mark_analysed(GstBuffer *buffer, const char *type, guint n_results);

}  // namespace cudavision
