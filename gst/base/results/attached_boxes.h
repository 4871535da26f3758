// SPDX-License-Identifier: LGPL-2.1-or-later
// The boxes that are attached to a frame, whoever attached them.
#pragma once

#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cuda/common/image.h"
#include "cuda/common/stop.h"
#include "gst/meta/reading.h"

namespace cudavision {

// A region of interest, an object detection of GstAnalytics, or both if they have the same type and place: elements
// attach each box as both, so that every reader finds it.
struct AttachedBox {
  GQuark type = 0;
  double x = 0, y = 0, width = 0, height = 0;  // pixels of the frame
  double score = 0;                            // NaN if there is none
  std::optional<guint64> track_id;             // see track_id() in reading.h
  bool predicted = false;                      // a tracker's guess: no detector has looked at the frame
  std::optional<TrackEstimate> estimate;       // by the tracker
  GstVideoRegionOfInterestMeta *region = nullptr;
  std::optional<guint> detection;  // its id in the relation meta
  const char *label = nullptr;     // a text about this one object, which lives as long as the meta; or null
};

// The smallest box around two boxes.
template <typename Box>
Box around(const Box &a, const Box &b) {
  const auto x = std::min(a.x, b.x), y = std::min(a.y, b.y);
  return {x, y, std::max(a.x + a.width, b.x + b.width) - x, std::max(a.y + a.height, b.y + b.height) - y};
}

// The area that two boxes have in common, as a share of the area that they cover together.
template <typename Box>
double intersection_over_union(const Box &a, const Box &b) {
  const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  if (!(width > 0)) return 0;  // most pairs end here
  const double height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  if (!(height > 0)) return 0;
  const double common = width * height;
  return common / (a.width * a.height + b.width * b.height - common);
}

// Selects the boxes of all types, or those of the type with this name, even if no box has that type. Boxes without a
// type have the type 0, which no name selects.
class WantedType {
 public:
  static WantedType all() { return WantedType(true, 0); }
  explicit WantedType(const char *name) : WantedType(false, g_quark_try_string(name)) {}
  bool includes(GQuark type) const { return all_ || (type_ != 0 && type == type_); }

 private:
  WantedType(bool all, GQuark type) : all_(all), type_(type) {}

  bool all_;
  GQuark type_;
};

// The types that a property lists, separated by commas.
class TypeList {
 public:
  TypeList() = default;
  explicit TypeList(const std::string &text);
  bool empty() const { return names_.empty(); }
  bool includes(GQuark type) const;

 private:
  std::vector<std::string> names_;
};

// Replaces *boxes by those of the buffer: regions first, then detections without a region, each in their order.
// Some are left out if the flag asks to stop.
void collect_boxes(GstBuffer *buffer, const StopFlag &stop, std::vector<AttachedBox> *boxes);

}  // namespace cudavision
