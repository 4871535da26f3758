// SPDX-License-Identifier: LGPL-2.1-or-later
// The boxes that are tracked, and how much two of them overlap.
#pragma once

#include <glib.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace cudavision {

// A box in pixels. All boxes of a track have the same type.
struct TypedBox {
  GQuark type = 0;
  double x = 0, y = 0, width = 0, height = 0;
  unsigned tag = 0;  // set by the caller; the identities of the track return that of its last box
  double score = std::numeric_limits<double>::quiet_NaN();  // NaN if the detector gave none
};

// Of the centre of a box, in pixels a second.
struct Velocity {
  double x, y;
};

// The length that two intervals have in common; at most 0 if they do not overlap.
inline double overlap(double a, double a_length, double b, double b_length) {
  return std::min(a + a_length, b + b_length) - std::max(a, b);
}

// 0 for boxes of different types.
inline double intersection_over_union(const TypedBox &a, const TypedBox &b) {
  if (a.type != b.type) return 0;
  const double width = overlap(a.x, a.width, b.x, b.width);
  if (width <= 0) return 0;  // most pairs end here
  const double height = overlap(a.y, a.height, b.y, b.height);
  if (height <= 0) return 0;
  const double common = width * height;
  return common / (a.width * a.height + b.width * b.height - common);
}

// Which box of a frame continues which track, as a method has found out.
struct Pairing {
  std::vector<int> tracks;     // for each box the index of its track, or -1
  std::vector<int> new_boxes;  // the boxes that begin tracks, in the order of their ids
  std::vector<double> hits;    // how much each box counts when a track is confirmed: 1, or less
};

}  // namespace cudavision
