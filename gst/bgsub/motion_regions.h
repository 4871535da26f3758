// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches regions of interest to a frame: the parts of the picture that move.
#pragma once

#include "cuda/components/components.h"
#include "gst/base/element/operation.h"

namespace cudavision {

// Attaches each component, which is in coordinates of the analysed region, as a GstVideoRegionOfInterestMeta of the
// type "motion", with an id that no other region of the buffer has. Its structure "motion" has the fields "area", in
// pixels, and "share", of the analysed region. From GStreamer 1.24 on, each is also attached as an object detection of
// GstAnalytics. Marks the frame as analysed for this type, even without components.
Status attach_motion(const Job &job, const ConnectedComponent *components, int count);

}  // namespace cudavision
