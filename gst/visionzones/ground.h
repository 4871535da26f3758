// SPDX-License-Identifier: LGPL-2.1-or-later
// Where points of the picture lie on the ground, and how tracks move there.
#pragma once

#include <gst/gst.h>

#include <optional>

#include "gst/visionzones/geometry.h"

namespace cudavision {

using GroundPoint = RealPoint;  // pixels or metres

double distance(GroundPoint a, GroundPoint b);

// A plane seen in perspective: the projective map of four points of the picture to their places on the ground. Both are
// corners of quadrilaterals, in the same order.
class Ground {
 public:
  Ground(const Corners &picture, const Corners &places);
  // The place of a point of the picture, in metres. None at the horizon and beyond.
  std::optional<GroundPoint> place_of(GroundPoint point) const;

 private:
  Matrix map_;  // its third result is 1 at the first corner
};

// The way of a track on the ground. It is measured from second to second, because boxes tremble.
class GroundWay {
 public:
  void add(GroundPoint place, GstClockTime now);
  bool is_known() const { return GST_CLOCK_TIME_IS_VALID(now_); }
  GroundPoint place() const { return place_; }
  double length() const { return length_ + distance(marks_[1].place, place_); }  // metres
  // In metres a second, over the last one or two seconds. None in the first second.
  std::optional<double> speed() const;

 private:
  struct Mark {
    GroundPoint place;
    GstClockTime time = 0;
  };
  GroundPoint place_;
  GstClockTime now_ = GST_CLOCK_TIME_NONE;
  Mark marks_[2];  // at least a second apart
  double length_ = 0;
};

}  // namespace cudavision
