// SPDX-License-Identifier: LGPL-2.1-or-later
// Notices that no results of other elements arrive at an element that needs them, and finds the boxes of one type.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gst/base/element/stream_clock.h"
#include "gst/base/results/attached_boxes.h"

namespace cudavision {

// Measures whether 5 s of frames have passed. A frame counts as one second at most.
class Patience {
 public:
  bool is_over(const GstBuffer *frame);

 private:
  StreamClock clock_;
  GstClockTime elapsed_ = 0;
};

// Waits for boxes of one type, or of the types of a list.
class AwaitedType {
 public:
  // Called for each frame with its boxes. property: the name of a property. type: its value. Returns a sentence for the
  // user, once, if for 5 s there have been only boxes of other types; otherwise an empty string.
  std::string take(const GstBuffer *frame, const std::vector<AttachedBox> &boxes, const char *property,
                   const std::string &type);
  // For a property that lists several types: `text` is its value, and includes() tells whether a type is listed.
  std::string take(const GstBuffer *frame, const std::vector<AttachedBox> &boxes, const char *property,
                   const std::string &text, const std::function<bool(GQuark)> &includes);

 private:
  std::string type_;
  bool is_settled_ = false;  // boxes of the type have come, or the sentence was returned
  std::set<GQuark> others_;  // some of the types that have come
  Patience patience_;
};

// The places of the boxes of one type that are attached to a frame, for properties such as remove-type.
class TypedRegions {
 public:
  // Reads the boxes of a frame that have this type ("*": any type). property: the name of the property whose value
  // `type` is. Some boxes are missing if the flag asks to stop.
  void read(GstBuffer *buffer, Size frame, const StopFlag &stop, const char *property,
            const std::string &type);
  // The places of these boxes in the last frame, clipped to the frame. None is empty, or equal to the one before.
  const std::vector<Region> &regions() const { return regions_; }
  // Set by read(): a sentence for the user, once, if only boxes of other types come (AwaitedType); otherwise empty.
  const std::string &complaint() const { return complaint_; }

 private:
  std::vector<AttachedBox> boxes_;
  AwaitedType awaited_;
  std::vector<Region> regions_;
  std::string complaint_;
};

// Waits for the results of other elements.
class AwaitedResults {
 public:
  enum class Kind {
    boxes,  // regions, detections, or the mark of a detector that has found nothing
    all,    // also keypoints, lines and tensors
  };
  // Called for each frame. Returns true once, if 5 s of frames have carried no result.
  bool are_missing(GstBuffer *frame, Kind kind);

 private:
  bool is_settled_ = false;  // something has come, or true was returned
  Patience patience_;
};

}  // namespace cudavision
