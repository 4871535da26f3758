// SPDX-License-Identifier: LGPL-2.1-or-later
// The places of the boxes of one type that are attached to a frame, for properties such as remove-type.
#pragma once

#include <string>
#include <vector>

#include "gst/base/results/attached_boxes.h"
#include "gst/base/results/awaited_results.h"

namespace cudavision {

class TypedRegions {
 public:
  // Reads the boxes of a frame that have this type ("*": any type). property: the name of the property whose value
  // `type` is. Some boxes are missing if the flag asks to stop.
  void read(GstBuffer *buffer, Size frame, const StopFlag &stop, const char *property,
            const std::string &type) {
    regions_.clear(), complaint_.clear();
    collect_boxes(buffer, stop, &boxes_);
    if (type != "*") complaint_ = awaited_.take(buffer, boxes_, property, type);
    add_regions(boxes_, type, frame, stop, &regions_);
  }
  // The places of these boxes in the last frame, clipped to the frame. None is empty.
  const std::vector<Region> &regions() const { return regions_; }
  // Set by read(): a sentence for the user, once, if only boxes of other types come (AwaitedType); otherwise empty.
  const std::string &complaint() const { return complaint_; }

 private:
  std::vector<AttachedBox> boxes_;
  AwaitedType awaited_;
  std::vector<Region> regions_;
  std::string complaint_;
};

}  // namespace cudavision
