// SPDX-License-Identifier: LGPL-2.1-or-later
// The trails of tracks, which show where their boxes stood in the last seconds, and the types of boxes that are shown.
#pragma once

#include <gst/gst.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gst/base/results/attached_boxes.h"

namespace cudavision {

// A straight part of a track's trail, in pixels of the frame. opacity: 1 for a step that ends now, less for older ones.
struct TrailStep {
  double from_x, from_y, to_x, to_y, opacity;
};

// The trails of the tracks of the last seconds. A trail has at most kMostPoints points, at about equal time intervals.
class Trails {
 public:
  static constexpr double kMostSeconds = 600;
  static constexpr std::size_t kMostTracks = 1024, kMostPoints = 64;

  // Takes the boxes of a frame. Frames without a timestamp have no trails. seconds: the length of the trails; 0: none.
  void take(const GstBuffer *frame, const std::vector<AttachedBox> &boxes, double seconds);

  // Calls visit(track, step) for the trails of all tracks, in the order of the ids, from the oldest step to the newest.
  template <typename Visit>
  void for_each_step(const Visit &visit) const {
    for (const auto &[track, way] : ways_)
      for (std::size_t i = 1; i < way.size(); ++i)
        visit(track, TrailStep{way[i - 1].x, way[i - 1].y, way[i].x, way[i].y, opacity_at(way[i].time)});
  }

 private:
  struct Point {
    GstClockTime time;
    double x, y;
  };
  using Way = std::vector<Point>;

  double opacity_at(GstClockTime time) const {
    return 1 - static_cast<double>(now_ - time) / static_cast<double>(length_);
  }
  void append(Way *way, const Point &point) const;

  std::map<guint64, Way> ways_;
  GstClockTime now_ = 0, length_ = 0;
};

// The types of boxes that are shown: those of the list `show`, or all if it is empty, except those of the list `hide`.
class ShownTypes {
 public:
  void set(const std::optional<std::string> &show, const std::optional<std::string> &hide);
  const TypeList &shown() const { return shown_; }
  bool includes(GQuark type) const {
    return (shown_.empty() || shown_.includes(type)) && !hidden_.includes(type);
  }

 private:
  std::optional<std::string> show_, hide_;
  TypeList shown_, hidden_;
};

}  // namespace cudavision
