// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches to a frame what the tracker says of it.
#pragma once

#include <gst/gst.h>

#include <vector>

#include "cuda/common/image.h"
#include "gst/base/results/attached_boxes.h"
#include "gst/visiontrack/sort_tracker.h"

namespace cudavision {

// The place of a box. Its tag says which metas hold the box: predictions are attached in the same form.
TypedBox typed_box(const AttachedBox &box);

// Gives the boxes their identities, and adds the predictions that lie in the frame, which has this size (0x0: not known). now: as
// it was given to the tracker.
void attach_identities(GstBuffer *buffer, const std::vector<AttachedBox> &boxes, const TrackedFrame &tracked,
                       Size frame, GstClockTime now);

}  // namespace cudavision
