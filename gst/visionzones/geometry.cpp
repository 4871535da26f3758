// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionzones/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace cudavision {
namespace {

// Clips the polygon at a vertical or horizontal line and returns the part on one side: I. E. Sutherland and G. W.
// Hodgman, "Reentrant Polygon Clipping", Communications of the ACM, 1974. along: the coordinate that is compared with
// the limit. sign: 1 keeps coordinates of at least the limit, -1 those of at most the limit.
std::vector<RealPoint> clipped(const std::vector<RealPoint> &polygon, double RealPoint::*along, double limit,
                               int sign) {
  std::vector<RealPoint> kept;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const RealPoint a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    const double before = sign * (a.*along - limit), after = sign * (b.*along - limit);
    if (before >= 0) kept.push_back(a);
    if ((before < 0) == (after < 0)) continue;
    const double share = before / (before - after);
    RealPoint cut{a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
    cut.*along = limit;
    kept.push_back(cut);
  }
  return kept;
}

double area(const std::vector<RealPoint> &polygon) {
  double doubled = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const RealPoint a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    doubled += a.x * b.y - b.x * a.y;
  }
  return std::abs(doubled) / 2;
}

std::int32_t fixed(double pixels) {
  if (std::isnan(pixels)) return 0;
  return static_cast<std::int32_t>(
      std::lround(std::clamp(pixels, -kFarthestPixel, kFarthestPixel) * kUnitsOfPixel));
}

}  // namespace

FixedPoint fixed_point(double x, double y) { return {fixed(x), fixed(y)}; }

Crossing crossing(const Segment &segment, FixedPoint p, FixedPoint q) {
  const bool was_right = turn(segment.from, segment.to, p) >= 0,
             is_right = turn(segment.from, segment.to, q) >= 0;
  if (was_right == is_right) return Crossing::none;
  // Always runs from the left side of the segment to its right side, so that the way back gives the same result.
  const FixedPoint left = was_right ? q : p, right = was_right ? p : q;
  if (turn(left, right, segment.from) < 0 || turn(left, right, segment.to) >= 0) return Crossing::none;
  return is_right ? Crossing::to_right : Crossing::to_left;
}

bool is_near(const Segment &segment, FixedPoint p, double reach) {
  const auto [from, to] = segment;
  const std::int64_t along = std::int64_t{to.x - from.x} * (p.x - from.x) +
                             std::int64_t{to.y - from.y} * (p.y - from.y),
                     length = squared_distance(from, to);
  const auto is_near_end = [&](FixedPoint end) {
    return static_cast<double>(squared_distance(end, p)) < reach * reach;
  };
  if (along <= 0) return is_near_end(from);
  if (along >= length) return is_near_end(to);
  return std::abs(static_cast<double>(turn(from, to, p))) < reach * std::sqrt(static_cast<double>(length));
}

bool contains(const Polygon &polygon, FixedPoint p) {
  bool inside = false;
  FixedPoint a = polygon.back();
  for (const FixedPoint b : polygon) {
    if ((a.y > p.y) != (b.y > p.y) && (b.y > a.y ? turn(a, b, p) > 0 : turn(a, b, p) < 0)) inside = !inside;
    a = b;
  }
  return inside;
}

bool is_near_edge(const Polygon &polygon, FixedPoint p, double reach) {
  FixedPoint a = polygon.back();
  for (const FixedPoint b : polygon) {
    if (is_near({a, b}, p, reach)) return true;
    a = b;
  }
  return false;
}

FixedBox box_around(const std::vector<FixedPoint> &points) {
  FixedBox box{points.front(), points.front()};
  for (const FixedPoint p : points) {
    box.least = {std::min(box.least.x, p.x), std::min(box.least.y, p.y)};
    box.most = {std::max(box.most.x, p.x), std::max(box.most.y, p.y)};
  }
  return box;
}

double share_inside(const Polygon &polygon, const FixedBox &box) {
  const double whole = static_cast<double>(box.most.x - box.least.x) * (box.most.y - box.least.y);
  if (!(whole > 0)) return 0;
  std::vector<RealPoint> rest;
  rest.reserve(2 * polygon.size());
  for (const FixedPoint p : polygon) rest.push_back({static_cast<double>(p.x), static_cast<double>(p.y)});
  rest = clipped(rest, &RealPoint::x, box.least.x, 1);
  rest = clipped(rest, &RealPoint::x, box.most.x, -1);
  rest = clipped(rest, &RealPoint::y, box.least.y, 1);
  rest = clipped(rest, &RealPoint::y, box.most.y, -1);
  return std::min(area(rest) / whole, 1.0);
}

}  // namespace cudavision
