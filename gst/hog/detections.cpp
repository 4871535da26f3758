// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches the boxes that cudahog has detected to a buffer.
#include "gst/hog/detections.h"

#include <gst/video/gstvideometa.h>
#if CUDAVISION_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

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

#if CUDAVISION_HAVE_ANALYTICS
// Adds a meta with memory for `count` detections, so that it does not grow with each of them.
GstAnalyticsRelationMeta *add_relations(GstBuffer *buffer, int count) {
  constexpr gsize kBytes = 128;  // the approximate size of a detection
  GstAnalyticsRelationMetaInitParams sizes{static_cast<gsize>(count), static_cast<gsize>(count) * kBytes};
  return gst_buffer_add_analytics_relation_meta_full(buffer, &sizes);
}

// Appends to the meta of the buffer, which all elements share, or adds one.
bool attach_detections(const Job &job, const HogBox *boxes, int count, const char *label) {
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(job.buffer);
  if (relations == nullptr) relations = add_relations(job.buffer, count);
  if (relations == nullptr) return false;
  const GQuark type = g_quark_from_string(label);
  for (int i = 0; i < count; ++i) {
    GstAnalyticsODMtd detection;
    if (!gst_analytics_relation_meta_add_od_mtd(relations, type, job.region.x + boxes[i].x,
                                                job.region.y + boxes[i].y, boxes[i].width, boxes[i].height,
                                                boxes[i].score, &detection))
      return false;
  }
  return true;
}
#endif

}  // namespace

Status attach_boxes(const Job &job, const HogBox *boxes, int count, const char *label) {
  for (int i = 0; i < count; ++i) attach_region(job, boxes[i], label);
#if CUDAVISION_HAVE_ANALYTICS
  if (count > 0 && !attach_detections(job, boxes, count, label))
    return invalid_argument("the object detections could not be attached");
#endif
  return {};
}

}  // namespace cudavision
