// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds out by the marks of detectors which types of objects they have looked for in a frame.
#pragma once

#include <gst/gst.h>

#include <set>
#include <vector>

#include "gst/visiontrack/tracker.h"

namespace cudavision {

// Detectors have looked for a type in a frame if it has boxes of the type or a mark for it (mark_analysed()), or if the
// stream has had no mark for the type: detectors without marks are taken to look at every frame.
class SearchedTypes {
 public:
  void restart() { marked_types_.clear(), is_marked_ = false; }
  // Returns what was looked for in a frame with these boxes. The result refers to this object and the buffer.
  Search take(GstBuffer *buffer, const std::vector<TypedBox> &boxes);

 private:
  bool is_marked(GQuark type);

  bool is_blind_ = false;          // nobody can look at the last frame
  bool is_marked_ = false;         // a frame of the stream has had a mark
  std::set<GQuark> marked_types_;  // types of boxes for which the stream has had a mark
  GstBuffer *buffer_ = nullptr;    // the last frame
  std::set<GQuark> found_;         // the types of its boxes
};

// Whether a detector has marked the frame, for any type.
bool has_mark(GstBuffer *buffer);

}  // namespace cudavision
