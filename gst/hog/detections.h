// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches what cudahog has detected.
#pragma once

#include "gst/base/operation.h"
#include "cuda/hog/detector.h"

namespace cudavision {

// Each box as a region of interest of type label, with the structure "detection" and its field "confidence",
// and from GStreamer 1.24 on as an object detection of GstAnalytics.
Status attach_boxes(const Job &job, const HogBox *boxes, int count, const char *label);

}  // namespace cudavision
