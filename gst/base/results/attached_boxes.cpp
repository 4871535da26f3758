// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/results/attached_boxes.h"

#include <algorithm>
#include <cmath>

#include "gst/base/results/analytics.h"

namespace cudavision {
namespace {

AttachedBox box_of(GstVideoRegionOfInterestMeta *meta) {
  const RegionReading region = reading_of(*meta);
  return {.type = meta->roi_type,
          .x = static_cast<double>(region.x),
          .y = static_cast<double>(region.y),
          .width = static_cast<double>(region.width),
          .height = static_cast<double>(region.height),
          .score = region.score,
          .track_id = region.track_id,
          .predicted = region.predicted,
          .estimate = region.estimate,
          .region = meta,
          .detection = {},
          .label = region.label};
}

AttachedBox box_of(GstBuffer *buffer, const Detection &d) {
  return {.type = d.type,
          .x = static_cast<double>(d.x),
          .y = static_cast<double>(d.y),
          .width = static_cast<double>(d.width),
          .height = static_cast<double>(d.height),
          .score = static_cast<double>(d.confidence),
          .track_id = track_of_detection(buffer, d.id),
          .estimate = {},
          .detection = d.id};
}

bool is_same_place(const AttachedBox &a, const AttachedBox &b) {
  return a.type == b.type && a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

}  // namespace

TypeList::TypeList(const std::string &text) {
  g_auto(GStrv) names = g_strsplit(text.c_str(), ",", -1);
  for (char **name = names; *name != nullptr; ++name)
    if (*g_strstrip(*name) != '\0') names_.emplace_back(*name);
}

bool TypeList::includes(GQuark type) const {
  const char *text = text_of(type);
  return text != nullptr && std::find(names_.begin(), names_.end(), text) != names_.end();
}

void collect_boxes(GstBuffer *buffer, const StopFlag &stop, std::vector<AttachedBox> *boxes) {
  boxes->clear();
  for_each_region(buffer, [&](GstVideoRegionOfInterestMeta &meta) {
    if (!stop.requested()) boxes->push_back(box_of(&meta));
  });
  // An element attaches its regions and its detections in the same order, so the search for a detection's region begins
  // behind the last region found. It is bounded, because a frame may carry any number of regions and detections.
  constexpr std::size_t kMostCompared = 1024;
  const std::size_t regions = boxes->size(), compared = std::min(regions, kMostCompared);
  std::size_t next = 0;
  const auto joins_region = [&](const AttachedBox &box) {
    for (std::size_t i = 0; i < compared; ++i) {
      AttachedBox &region = (*boxes)[(next + i) % regions];
      if (region.detection || !is_same_place(region, box)) continue;
      region.detection = box.detection;
      if (!region.track_id) region.track_id = box.track_id;
      if (std::isnan(region.score)) region.score = box.score;
      next = (next + i + 1) % regions;
      return true;
    }
    return false;
  };
  for (const Detection &detection : detections_of(buffer, stop))
    if (const AttachedBox box = box_of(buffer, detection); !joins_region(box)) boxes->push_back(box);
}

}  // namespace cudavision
