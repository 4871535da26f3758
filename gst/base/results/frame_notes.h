// SPDX-License-Identifier: LGPL-2.1-or-later
// What elements say about a frame apart from their results: why results are missing or doubtful. Each note is a custom
// meta.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <string>

namespace cudavision {

// Call it before frames from other processes come: GStreamer drops metas that are not registered.
void register_frame_notes();

// Attaches a warning to the frame. code: a word of the table "Warnings of frames" in common.md.
void attach_warning(GstBuffer *buffer, GstElement *element, const char *code);
// Calls visit with each warning, "ELEMENT: CODE", in the order in which they were attached.
void for_each_warning(GstBuffer *buffer, const std::function<void(const std::string &)> &visit);

}  // namespace cudavision
