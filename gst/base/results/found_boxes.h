// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches what a detector has found in a frame, and the mark that it has looked.
#pragma once

#include <gst/gst.h>

#include <functional>

#include "gst/base/element/operation.h"

namespace cudavision {

// How a detector has looked at a frame. Only `whole` tells that there is nothing else of its type.
enum class Look { none, part, whole };

struct FoundBox {
  Region place;  // in coordinates of the analysed region
  float confidence;
  GstStructure *param;  // becomes a parameter of the region
};

// Attaches box(0) to box(count - 1) as regions of interest of this type, with ids that no other region of the buffer
// has, and from GStreamer 1.24 on as object detections of GstAnalytics. Marks the frame as analysed for the type, even
// without boxes, if the look is `whole`, the analysed region is the whole frame, and the job is not turned. Otherwise
// it notes a partial look, unless the look is `none`.
Status attach_found(const Job &job, const char *type, Look look, int count,
                    const std::function<FoundBox(int)> &box);

}  // namespace cudavision
