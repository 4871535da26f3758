// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches the boxes that cudahog has detected to a buffer.
#pragma once

#include "cuda/hog/hog_detector.h"
#include "gst/base/element/operation.h"

namespace cudavision {

// Attaches each box as a GstVideoRegionOfInterestMeta of type `label`, with its score in the field
// "confidence" of the structure "detection" and an id that no other region of the buffer has. Marks the frame
// as analysed for this type, also if there are no boxes. From GStreamer 1.24 on, it also attaches each box as
// an object detection of GstAnalytics. The boxes are in coordinates of the region that is analysed.
Status attach_boxes(const Job &job, const HogBox *boxes, int count, const char *label);

}  // namespace cudavision
