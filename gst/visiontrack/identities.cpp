// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visiontrack/identities.h"

#include <algorithm>
#include <cmath>

#include "gst/base/results/analytics.h"
#include "gst/meta/free_ids.h"

namespace cudavision {
namespace {

enum Form : unsigned { kRegion = 1, kDetection = 2 };

void add_tracking(GstVideoRegionOfInterestMeta *region, const Identity &identity, bool predicted) {
  const TypedBox &box = identity.box;
  GstStructure *tracking = gst_structure_new(
      "tracking", "id", G_TYPE_UINT64, identity.id, "frames", G_TYPE_INT64,
      static_cast<gint64>(identity.frames), "x", G_TYPE_DOUBLE, box.x, "y", G_TYPE_DOUBLE, box.y, "width",
      G_TYPE_DOUBLE, box.width, "height", G_TYPE_DOUBLE, box.height, "velocity-x", G_TYPE_DOUBLE,
      identity.velocity.x, "velocity-y", G_TYPE_DOUBLE, identity.velocity.y, nullptr);
  if (predicted) gst_structure_set(tracking, "predicted", G_TYPE_BOOLEAN, TRUE, nullptr);
  gst_video_region_of_interest_meta_add_param(region, tracking);
}

bool is_seen(const TypedBox &box, Size frame) {
  return (frame.width == 0 || (box.x < frame.width && box.x + box.width > 0)) &&
         (frame.height == 0 || (box.y < frame.height && box.y + box.height > 0));
}

int pixels(double value) { return static_cast<int>(std::lround(std::clamp(value, -1e9, 1e9))); }

void add_prediction(GstBuffer *buffer, const Identity &identity, FreeIds *ids) {
  const TypedBox &box = identity.box;
  const int x = pixels(box.x), y = pixels(box.y), width = std::max(1, pixels(box.width)),
            height = std::max(1, pixels(box.height));
  if ((box.tag & kRegion) != 0) {
    GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta_id(
        buffer, box.type, static_cast<guint>(x), static_cast<guint>(y), static_cast<guint>(width),
        static_cast<guint>(height));
    region->id = ids->next();
    add_tracking(region, identity, true);
  }
  if ((box.tag & kDetection) == 0) return;
  if (!attach_detections(buffer, 1, [&](int) { return Detection{0, box.type, x, y, width, height, 0}; }).ok())
    return;
  const std::vector<Detection> detections = detections_of(buffer, StopFlag());
  if (!detections.empty())
    (void)attach_tracking(buffer, detections.back().id, identity.id, identity.first_seen, identity.last_seen);
}

}  // namespace

TypedBox typed_box(const AttachedBox &box) {
  const unsigned tag = (box.region != nullptr ? kRegion : 0u) | (box.detection ? kDetection : 0u);
  return {box.type, box.x, box.y, box.width, box.height, tag, box.score};
}

void attach_identities(GstBuffer *buffer, const std::vector<AttachedBox> &boxes, const TrackedFrame &tracked,
                       Size frame, GstClockTime now) {
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (!tracked.boxes[i]) continue;
    const Identity &identity = *tracked.boxes[i];
    if (boxes[i].region != nullptr) add_tracking(boxes[i].region, identity, false);
    if (boxes[i].detection)
      (void)attach_tracking(buffer, *boxes[i].detection, identity.id, identity.first_seen, now);
  }
  if (tracked.predictions.empty()) return;
  FreeIds ids(buffer);
  for (const Identity &identity : tracked.predictions)
    if (is_seen(identity.box, frame)) add_prediction(buffer, identity, &ids);
}

}  // namespace cudavision
