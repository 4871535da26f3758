// SPDX-License-Identifier: LGPL-2.1-or-later
// What is to be counted: lines and polygons with their rules, as a user writes them.
#pragma once

#include <glib.h>
#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "cuda/common/status.h"

namespace cudavision {

struct PlannedPoint {
  double x = 0, y = 0;  // in the unit of the plan

  friend bool operator==(const PlannedPoint &, const PlannedPoint &) = default;
};

// The directions in which a line is crossed, or a polygon entered and left.
constexpr int kDirections = 2;
enum Direction : int { kToRight = 0, kToLeft = 1, kEnter = 0, kLeave = 1 };

// A line has two points, a polygon at least three.
struct ZoneRule {
  std::string name;
  std::vector<PlannedPoint> points;
  PlannedPoint anchor{
      0.5, 1};  // tells where the object of a box is, in fractions of the box: the middle of its lower edge
  double share = 0;  // of a polygon: if not 0, the object is in it if at least this share of its box is
  std::vector<std::string> types;                                            // none: all
  std::string directions[kDirections] = {"left-to-right", "right-to-left"};  // of a line
  std::optional<double> hysteresis;  // in the unit of the plan; of fractions, those of the height
  // Of a polygon.
  bool is_inverse = false;  // its outside counts as its inside
  GstClockTime dwell = 0;   // 0: no event
  int crowd = 0;            // the least number of objects; 0: no event
  GstClockTime crowd_time = 0;
  std::optional<PlannedPoint> way;  // the direction in which objects should move
  double angle = 60;                // degrees around the opposite direction that are wrong

  bool is_line() const { return points.size() == 2; }
};

struct ZonePlan {
  bool is_fraction = false;                // points are fractions of the frame's width and height, not pixels
  GstClockTime patience = 3 * GST_SECOND;  // the time without a box after which a track has left
  GstClockTime window = 60 * GST_SECOND;   // of the recent counts
  std::vector<ZoneRule> rules;             // lines first
};

// Bounds of a plan, and thus of the time and the memory that a frame may take.
constexpr std::size_t kMostRules = 256, kMostPointsOfRule = 64, kMostPlanBytes = std::size_t{1} << 20;

// Reads a plan from JSON (cudavisionzones.schema.json). Fails with the number of the line and the reason.
Status read_zone_plan(const std::string &json, ZonePlan *plan);

}  // namespace cudavision
