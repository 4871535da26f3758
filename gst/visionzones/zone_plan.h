// SPDX-License-Identifier: LGPL-2.1-or-later
// What is to be counted: lines and polygons with their rules, as a user writes them.
#pragma once

#include <glib.h>
#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "cuda/common/status.h"
#include "gst/visionzones/ground.h"

namespace cudavision {

using PlannedPoint = RealPoint;  // in pixels or fractions, see ZonePlan::is_fraction

// The directions in which a line is crossed, or a polygon entered and left.
constexpr int kDirections = 2;
enum Direction : int { kToRight = 0, kToLeft = 1, kEnter = 0, kLeave = 1 };

constexpr double kFastest = 1000;  // metres a second

// A line has two points, a polygon at least three.
struct ZoneRule {
  std::string name;
  std::vector<PlannedPoint> points;
  // The point of a box that says where its object is, in fractions of the box: the middle of the lower edge.
  PlannedPoint anchor{0.5, 1};
  double share = 0;  // polygons: if not 0, an object is inside if at least this share of its box is
  std::vector<std::string> types;                                            // empty: all types
  std::string directions[kDirections] = {"left-to-right", "right-to-left"};  // names of a line's directions
  std::optional<double> hysteresis;  // in pixels or fractions of the frame's height
  // The time between a track's first and last box on a side of the line, inside or outside, from which on it is there.
  GstClockTime least_stay = 200 * GST_MSECOND;
  // Lines: in metres a second. Tracks that are not as fast, or whose speed is not known, do not cross.
  double min_speed = 0, max_speed = kFastest;
  // The following members are for polygons only.
  bool is_inverse = false;  // the outside of the polygon counts as its inside
  GstClockTime dwell = 0;   // the stay in the polygon after which there is an event; 0: no event
  int crowd = 0;            // the least number of objects of a crowd; 0: no event
  GstClockTime crowd_time = 0;
  std::optional<PlannedPoint> way;  // the direction in which objects should move
  double angle = 60;                // motion within this many degrees of the opposite of `way` is wrong
  double distance = 0;              // metres: other tracks that are nearer are too close; 0: no event

  bool is_line() const { return points.size() == 2; }
  bool asks_speed() const { return min_speed > 0 || max_speed < kFastest; }
};

// Four points of the picture, and their places on the ground.
struct PlannedGround {
  Corners picture, places;
};

struct ZonePlan {
  bool is_fraction = false;                // points are fractions of the frame's width and height, not pixels
  GstClockTime patience = 3 * GST_SECOND;  // the time without a box after which a track has left
  GstClockTime window = 60 * GST_SECOND;   // the time that Tally::recent covers
  std::optional<PlannedGround> ground;
  std::vector<ZoneRule> rules;  // lines first
  std::string checksum;         // of the text, but for the space between its parts
};

// Bounds of a plan, and thus of the time and the memory that a frame may take.
constexpr std::size_t kMostRules = 256, kMostPointsOfRule = 64, kMostPlanBytes = std::size_t{1} << 20;

// Reads a plan from JSON (cudavisionzones.schema.json). Fails with the number of the line and the reason.
Status read_zone_plan(const std::string &json, ZonePlan *plan);

}  // namespace cudavision
