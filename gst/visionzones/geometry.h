// SPDX-License-Identifier: LGPL-2.1-or-later
// Points, segments and polygons in fixed point. Sides of lines and crossings of segments are computed exactly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gst/base/geometry/projective.h"

namespace cudavision {

constexpr int kUnitsOfPixel = 256;
constexpr double kFarthestPixel = 32768;

// Coordinates in 1/256 pixel, of at most kFarthestPixel pixels: sums of two products of differences of coordinates are
// exact in 64 bits, and in a double.
struct FixedPoint {
  std::int32_t x = 0, y = 0;

  friend bool operator==(FixedPoint, FixedPoint) = default;
};

// Coordinates in pixels, rounded and clamped; 0 for NaN.
FixedPoint fixed_point(double x, double y);

// Positive if p lies to the right of a viewer at a who looks towards b (x runs to the right and y downwards), and 0 if
// p lies on the line through a and b.
constexpr std::int64_t turn(FixedPoint a, FixedPoint b, FixedPoint p) {
  return std::int64_t{b.x - a.x} * (p.y - a.y) - std::int64_t{b.y - a.y} * (p.x - a.x);
}

constexpr std::int64_t squared_distance(FixedPoint a, FixedPoint b) {
  return std::int64_t{b.x - a.x} * (b.x - a.x) + std::int64_t{b.y - a.y} * (b.y - a.y);
}

struct Segment {
  FixedPoint from, to;
};

enum class Crossing { none, to_right, to_left };

// How the straight way from p to q crosses the segment, for a viewer at `from` who looks towards `to`. Points on the
// line count as right of it. The end `from` belongs to the segment and `to` does not, so that a way through the common
// end of two consecutive segments crosses only one of them.
Crossing crossing(const Segment &segment, FixedPoint p, FixedPoint q);

// Whether p lies less than reach (1/256 pixel) from the segment.
bool is_near(const Segment &segment, FixedPoint p, double reach);

// At least three points; the last one is joined to the first one. Points on a left or upper edge belong to the polygon,
// those on a right or lower edge do not: a point on a common edge of two polygons belongs to only one of them.
using Polygon = std::vector<FixedPoint>;

// A point belongs to the polygon if a ray from it crosses an odd number of edges.
bool contains(const Polygon &polygon, FixedPoint p);
// Whether p lies less than reach (1/256 pixel) from an edge.
bool is_near_edge(const Polygon &polygon, FixedPoint p, double reach);

struct FixedBox {
  FixedPoint least, most;

  constexpr bool contains(FixedPoint p) const {
    return p.x >= least.x && p.x <= most.x && p.y >= least.y && p.y <= most.y;
  }
  constexpr bool meets(const FixedBox &other) const {
    return least.x <= other.most.x && most.x >= other.least.x && least.y <= other.most.y &&
           most.y >= other.least.y;
  }
};

constexpr FixedBox box_between(FixedPoint a, FixedPoint b) {
  return {{std::min(a.x, b.x), std::min(a.y, b.y)}, {std::max(a.x, b.x), std::max(a.y, b.y)}};
}

// The smallest box around points, of which there is at least one.
FixedBox box_around(const std::vector<FixedPoint> &points);

// The share of the box's area, 0 to 1, that lies in a polygon whose edges do not cross; 0 if the box has no area.
double share_inside(const Polygon &polygon, const FixedBox &box);

}  // namespace cudavision
