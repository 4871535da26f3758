// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visiontrack/searched_types.h"

#include <gst/cudavision/cudavision.h>

namespace cudavision {

bool has_mark(GstBuffer *buffer) { return gst_cuda_vision_buffer_get_n_results(buffer, nullptr) >= 0; }

bool SearchedTypes::is_marked(GstBuffer *buffer, GQuark type) {
  if (gst_cuda_vision_buffer_get_n_results(buffer, g_quark_to_string(type)) < 0) return false;
  marked_types_.insert(type);
  return true;
}

Search SearchedTypes::take(GstBuffer *buffer, const std::vector<TypedBox> &boxes) {
  std::set<GQuark> found;
  for (const TypedBox &box : boxes)
    if (found.insert(box.type).second) is_marked(buffer, box.type);
  const bool is_marked_here = has_mark(buffer);
  is_marked_ = is_marked_ || is_marked_here;
  return {.is_any = !boxes.empty() || is_marked_here || !is_marked_,
          .includes = [this, buffer, found](GQuark type) {
            return found.contains(type) || is_marked(buffer, type) || !marked_types_.contains(type);
          }};
}

}  // namespace cudavision
