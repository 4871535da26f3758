// SPDX-License-Identifier: LGPL-2.1-or-later
// What detectors have looked for in a frame, by the marks that they attach.
#pragma once

#include <gst/gst.h>

#include <set>
#include <vector>

#include "gst/visiontrack/sort_tracker.h"

namespace cudavision {

// Boxes of a type tell that somebody looked for it. If there are none, a mark tells. Detectors that attach no marks are taken to
// look at every frame: without any mark for a type in the stream, the type counts as looked for.
class SearchedTypes {
 public:
  void restart() { marked_types_.clear(), is_marked_ = false; }
  // Of a frame and its boxes. Both stay in use until the next call.
  Search take(GstBuffer *buffer, const std::vector<TypedBox> &boxes);

 private:
  bool is_marked(GstBuffer *buffer, GQuark type);

  bool is_marked_ = false;         // any frame of the stream
  std::set<GQuark> marked_types_;  // of boxes that some frame of the stream is marked for
};

// Whether a detector has marked the frame, for any type.
bool has_mark(GstBuffer *buffer);

}  // namespace cudavision
