// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches the boxes that cudahog has detected to a buffer.
#include "gst/hog/detections.h"

#include <gst/video/gstvideometa.h>

#include "gst/base/analytics.h"

namespace cudavision {
namespace {

void attach_region(const Job &job, const HogBox &box, const char *label) {
  GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta(
      job.buffer, label, static_cast<guint>(job.region.x + box.x), static_cast<guint>(job.region.y + box.y),
      static_cast<guint>(box.width), static_cast<guint>(box.height));
  gst_video_region_of_interest_meta_add_param(
      region,
      gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, static_cast<double>(box.score), nullptr));
}

}  // namespace

Status attach_boxes(const Job &job, const HogBox *boxes, int count, const char *label) {
  for (int i = 0; i < count; ++i) attach_region(job, boxes[i], label);
  const GQuark type = g_quark_from_string(label);
  return attach_detections(job.buffer, count, [&](int i) {
    const HogBox &box = boxes[i];
    return Detection{type, job.region.x + box.x, job.region.y + box.y, box.width, box.height, box.score};
  });
}

}  // namespace cudavision
