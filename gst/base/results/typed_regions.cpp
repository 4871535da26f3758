// SPDX-License-Identifier: LGPL-2.1-or-later
// The places of the boxes of one type that are attached to a frame.
#include "gst/base/results/typed_regions.h"

namespace cudavision {

void TypedRegions::read(GstBuffer *buffer, Size frame, const StopFlag &stop, const char *property,
                        const std::string &type) {
  regions_.clear(), complaint_.clear();
  collect_boxes(buffer, stop, &boxes_);
  if (type != "*") complaint_ = awaited_.take(buffer, boxes_, property, type);
  add_regions(boxes_, type, frame, stop, &regions_);
}

}  // namespace cudavision
