// SPDX-License-Identifier: LGPL-2.1-or-later
// Ids for new regions of a frame.
#pragma once

#include <set>

#include "gst/meta/reading.h"

namespace cudavision {

// Finds the ids from 1 on that no region of a buffer has. Not 0: a parent_id of 0 means that there is no parent.
class FreeIds {
 public:
  explicit FreeIds(GstBuffer *buffer) {
    for_each_region(buffer, [this](const GstVideoRegionOfInterestMeta &region) { taken_.insert(region.id); });
  }
  gint next() {
    do ++last_;
    while (taken_.contains(last_));
    return last_;
  }

 private:
  std::set<gint> taken_;
  gint last_ = 0;
};

}  // namespace cudavision
