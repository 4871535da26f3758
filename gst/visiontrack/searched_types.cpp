// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visiontrack/searched_types.h"

#include <gst/cudavision/cudavision.h>

#include "gst/base/results/frame_notes.h"

namespace cudavision {

namespace {

// A type of null stands for any type. A look at a part of the frame counts: the tracks in the rest are lost there.
bool has_look(GstBuffer *buffer, const char *type) {
  return gst_cuda_vision_buffer_get_n_results(buffer, type) >= 0 || has_partial_look(buffer, type);
}

// Nobody has looked at what a blind camera shows.
bool is_blind(GstBuffer *buffer) { return is_blind_for(buffer, kEveryType); }

}  // namespace

bool has_mark(GstBuffer *buffer) { return !is_blind(buffer) && has_look(buffer, nullptr); }

bool SearchedTypes::is_marked(GQuark type) {
  if (is_blind_ || !has_look(buffer_, g_quark_to_string(type))) return false;
  marked_types_.insert(type);
  return true;
}

Search SearchedTypes::take(GstBuffer *buffer, const std::vector<TypedBox> &boxes) {
  buffer_ = buffer, is_blind_ = is_blind(buffer);
  found_.clear();
  for (const TypedBox &box : boxes)
    if (found_.insert(box.type).second) is_marked(box.type);
  const bool is_marked_here = !is_blind_ && has_look(buffer, nullptr);
  is_marked_ = is_marked_ || is_marked_here;
  return {.is_any = !boxes.empty() || is_marked_here || (!is_marked_ && !is_blind_),
          .includes = [this](GQuark type) {
            return found_.contains(type) || is_marked(type) || (!marked_types_.contains(type) && !is_blind_);
          }};
}

}  // namespace cudavision
