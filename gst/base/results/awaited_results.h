// SPDX-License-Identifier: LGPL-2.1-or-later
// Notices that the results of other elements for which an element waits do not come.
#pragma once

#include <gst/gst.h>

#include <set>
#include <string>
#include <vector>

#include "gst/base/results/attached_boxes.h"

namespace cudavision {

// Whether frames of 5 s have passed, by their timestamps. A jump counts as one second at most, and a frame without a
// timestamp as 1/30 s.
class Patience {
 public:
  bool is_over(const GstBuffer *frame);

 private:
  GstClockTime elapsed_ = 0, last_ = GST_CLOCK_TIME_NONE;
};

// Waits for boxes of one type, or of a list.
class AwaitedType {
 public:
  // Takes the boxes of a frame, and the value of the property that names the type. Returns a sentence for the user, once, if
  // boxes of other types alone have come for 5 s; otherwise an empty string.
  std::string take(const GstBuffer *frame, const std::vector<AttachedBox> &boxes, const char *property,
                   const std::string &type);
  // The same of the types of a list, which the text names.
  std::string take(const GstBuffer *frame, const std::vector<AttachedBox> &boxes, const char *property,
                   const std::string &text, const TypeList &list);

 private:
  template <typename Wanted>
  std::string wait(const GstBuffer *frame, const std::vector<AttachedBox> &boxes, const char *property,
                   const std::string &type, const Wanted &wanted);

  std::string type_;
  bool is_settled_ = false;  // they have come, or the sentence was returned
  std::set<GQuark> others_;  // some of the types that have come
  Patience patience_;
};

// Waits for results of any kind.
class AwaitedResults {
 public:
  enum class Kind {
    boxes,  // regions, detections, or the mark of a detector that has found nothing
    all,    // also keypoints, lines and tensors
  };
  // Returns true once: if frames of 5 s have carried nothing.
  bool are_missing(GstBuffer *frame, Kind kind);

 private:
  bool is_settled_ = false;  // something has come, or true was returned
  Patience patience_;
};

}  // namespace cudavision
