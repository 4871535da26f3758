// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's analytics metas, from version 1.24 on, as JSON.
#pragma once

#include <gst/gst.h>

#include <string>

#include "cuda/common/stop.h"

namespace cudavision {

// Appends the member "detections" if object detections are attached: each with its class, box and confidence, the id
// that a tracker gave it, and the classes that a classifier gave it. Appends "classifications" if classes are attached
// that belong to the whole frame. Appends nothing with GStreamer before 1.24. Leaves items out if asked to stop.
void append_analytics(std::string *text, GstBuffer *buffer, const StopFlag &stop);

}  // namespace cudavision
