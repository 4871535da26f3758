// SPDX-License-Identifier: LGPL-2.1-or-later
// The boxes that are tracked.
#pragma once

#include <glib.h>

#include <limits>
#include <vector>

#include "gst/base/results/attached_boxes.h"

namespace cudavision {

// A box in pixels. All boxes of a track have the same type.
struct TypedBox {
  GQuark type = 0;
  double x = 0, y = 0, width = 0, height = 0;
  unsigned tag = 0;  // set by the caller; the identities of the track return that of its last box
  double score = std::numeric_limits<double>::quiet_NaN();  // NaN if the detector gave none
};

// The intersection over union; 0 for boxes of different types.
inline double overlap(const TypedBox &a, const TypedBox &b) {
  return a.type == b.type ? intersection_over_union(a, b) : 0;
}

// Of the centre of a box, in pixels a second.
struct Velocity {
  double x, y;
};

// Which box of a frame continues which track, as a method has found out.
struct Pairing {
  std::vector<int> tracks;     // for each box the index of its track, or -1
  std::vector<int> new_boxes;  // the boxes that begin tracks, in the order of their ids
  std::vector<double> hits;    // how much each box counts when a track is confirmed: 1, or less
};

}  // namespace cudavision
