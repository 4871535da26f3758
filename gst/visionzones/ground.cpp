// SPDX-License-Identifier: LGPL-2.1-or-later
// Projective maps of the plane, and ways.
#include "gst/visionzones/ground.h"

#include <algorithm>
#include <cmath>

namespace cudavision {
namespace {

using Matrix = std::array<double, 9>;

// Maps the unit square to a quadrilateral: P. S. Heckbert, "Fundamentals of Texture Mapping and Image Warping",
// master's thesis, University of California, Berkeley, 1989.
Matrix from_square(const Corners &c) {
  const double sx = c[0].x - c[1].x + c[2].x - c[3].x, sy = c[0].y - c[1].y + c[2].y - c[3].y;
  const double x1 = c[1].x - c[2].x, x2 = c[3].x - c[2].x, y1 = c[1].y - c[2].y, y2 = c[3].y - c[2].y;
  const double area = x1 * y2 - x2 * y1, g = (sx * y2 - x2 * sy) / area, h = (x1 * sy - sx * y1) / area;
  return {c[1].x - c[0].x + g * c[1].x,
          c[3].x - c[0].x + h * c[3].x,
          c[0].x,
          c[1].y - c[0].y + g * c[1].y,
          c[3].y - c[0].y + h * c[3].y,
          c[0].y,
          g,
          h,
          1};
}

// The inverse of a matrix but for a factor.
Matrix adjugate(const Matrix &m) {
  return {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
          m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
          m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
}

}  // namespace

double distance(GroundPoint a, GroundPoint b) { return std::hypot(b.x - a.x, b.y - a.y); }

bool is_quadrilateral(const Corners &corners) {
  int to_the_right = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const GroundPoint a = corners[i], b = corners[(i + 1) % 4], c = corners[(i + 2) % 4];
    const double turn = (b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x);
    // The sine of the angle at b.
    if (!(std::abs(turn) > 0.001 * std::hypot(b.x - a.x, b.y - a.y) * std::hypot(c.x - b.x, c.y - b.y)))
      return false;
    to_the_right += turn > 0;
  }
  return to_the_right % 4 == 0;
}

Ground::Ground(const Corners &picture, const Corners &places) : map_{} {
  const Matrix to_places = from_square(places), to_square = adjugate(from_square(picture));
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column)
      for (std::size_t k = 0; k < 3; ++k)
        map_[3 * row + column] += to_places[3 * row + k] * to_square[3 * k + column];
  const double scale = map_[6] * picture[0].x + map_[7] * picture[0].y + map_[8];
  for (double &value : map_) value /= scale;
}

std::optional<GroundPoint> Ground::place_of(GroundPoint point) const {
  const auto row = [&](std::size_t i) { return map_[i] * point.x + map_[i + 1] * point.y + map_[i + 2]; };
  constexpr double kHorizon = 1e-6;  // the third result falls to 0 there
  const double depth = row(6);
  if (!(depth > kHorizon)) return {};
  return GroundPoint{row(0) / depth, row(3) / depth};
}

void GroundWay::add(GroundPoint place, GstClockTime now) {
  if (!is_known()) marks_[0] = marks_[1] = {place, now};
  place_ = place, now_ = now;
  if (now - marks_[1].time < GST_SECOND) return;
  length_ += distance(marks_[1].place, place);
  marks_[0] = marks_[1], marks_[1] = {place, now};
}

std::optional<double> GroundWay::speed() const {
  const GstClockTime time = now_ - marks_[0].time;
  if (!is_known() || time < GST_SECOND) return {};
  return distance(marks_[0].place, place_) * static_cast<double>(GST_SECOND) / static_cast<double>(time);
}

}  // namespace cudavision
