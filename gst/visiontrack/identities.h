// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches the results of the tracker to a frame.
#pragma once

#include <gst/gst.h>

#include <vector>

#include "cuda/common/image.h"
#include "gst/base/results/attached_boxes.h"
#include "gst/visiontrack/tracker.h"

namespace cudavision {

// The box for the tracker. Its tag says whether it is a region, a detection or both; its predictions become the same.
TypedBox typed_box(const AttachedBox &box);

// Attaches the identities of the boxes, and the predictions that are inside the frame. frame: its size; 0x0 if it is
// not known. now: the time that was given to Tracker::next().
void attach_identities(GstBuffer *buffer, const std::vector<AttachedBox> &boxes, const TrackedFrame &tracked,
                       Size frame, GstClockTime now);

}  // namespace cudavision
