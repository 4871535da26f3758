// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches regions of interest to a frame: the parts of the picture that move.
#pragma once

#include "cuda/components/components.h"
#include "gst/base/element/operation.h"

namespace cudavision {

// Attaches each component as a GstVideoRegionOfInterestMeta of the type "motion", whose structure "motion" has the fields
// "area", in pixels, and "share", of the pixels of the region that is analysed, and with an id that no other region of the
// buffer has. Marks the frame as analysed for this type, also if there are no components. From GStreamer 1.24 on, it also
// attaches each as an object detection of GstAnalytics. Components are in coordinates of the region that is analysed.
Status attach_motion(const Job &job, const ConnectedComponent *components, int count);

}  // namespace cudavision
