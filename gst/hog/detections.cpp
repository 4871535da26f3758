// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches the boxes that cudahog has detected to a buffer.
#include "gst/hog/detections.h"

#include <gst/video/gstvideometa.h>

#include <set>

#include "gst/base/analytics.h"

namespace cudavision {
namespace {

// The ids from 1 on that no region of a buffer has. 0 is left out: a region without a parent has the
// parent_id 0.
class FreeIds {
 public:
  explicit FreeIds(GstBuffer *buffer) {
    gpointer state = nullptr;
    while (GstMeta *meta =
               gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
      taken_.insert(reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta)->id);
  }
  gint next() {
    do ++last_;
    while (taken_.contains(last_));
    return last_;
  }

 private:
  std::set<gint> taken_;
  gint last_ = 0;
};

void attach_region(const Job &job, const HogBox &box, const char *label, gint id) {
  GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta(
      job.buffer, label, static_cast<guint>(job.region.x + box.x), static_cast<guint>(job.region.y + box.y),
      static_cast<guint>(box.width), static_cast<guint>(box.height));
  region->id = id;
  gst_video_region_of_interest_meta_add_param(
      region,
      gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, static_cast<double>(box.score), nullptr));
}

}  // namespace

Status attach_boxes(const Job &job, const HogBox *boxes, int count, const char *label) {
  FreeIds ids(job.buffer);
  for (int i = 0; i < count; ++i) attach_region(job, boxes[i], label, ids.next());
  const GQuark type = g_quark_from_string(label);
  return attach_detections(job.buffer, count, [&](int i) {
    const HogBox &box = boxes[i];
    return Detection{0, type, job.region.x + box.x, job.region.y + box.y, box.width, box.height, box.score};
  });
}

}  // namespace cudavision
