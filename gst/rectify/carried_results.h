// SPDX-License-Identifier: LGPL-2.1-or-later
// Carries the results of a camera's picture to a view of it.
#pragma once

#include <gst/gst.h>

#include "cuda/common/image.h"
#include "gst/rectify/view.h"

namespace cudavision {

// Attaches regions of interest, object detections, tracks, keypoints, lines and the shapes and events of zones to
// `view`, which has `size`, at their places there. Points lie at the view's own place of the point, boxes become the
// box around their outline there, and what leaves the view is dropped. Results that fill the picture, such as tensors
// and masks, are not carried: analyse the view for them.
void carry_results(GstBuffer *camera, GstBuffer *view, const rectify::ViewPoints &points, Size size);

}  // namespace cudavision
