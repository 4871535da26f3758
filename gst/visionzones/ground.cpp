// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionzones/ground.h"

#include <algorithm>
#include <cmath>

namespace cudavision {

double distance(GroundPoint a, GroundPoint b) { return std::hypot(b.x - a.x, b.y - a.y); }

Ground::Ground(const Corners &picture, const Corners &places)
    : map_(product(from_square(places), inverse(from_square(picture)))) {
  const double scale = map_[6] * picture[0].x + map_[7] * picture[0].y + map_[8];
  for (double &value : map_) value /= scale;
}

std::optional<GroundPoint> Ground::place_of(GroundPoint point) const {
  constexpr double kHorizon = 1e-6;  // the third result falls to 0 there
  const auto [x, y, depth] = mapped(map_, {point.x, point.y, 1});
  if (!(depth > kHorizon)) return {};
  return GroundPoint{x / depth, y / depth};
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
