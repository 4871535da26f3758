// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionoverlay/trails.h"

#include <algorithm>

namespace cudavision {

void Trails::take(const GstBuffer *frame, const std::vector<AttachedBox> &boxes, double seconds) {
  now_ = GST_BUFFER_PTS(frame);
  length_ = static_cast<GstClockTime>(seconds * GST_SECOND);
  if (length_ == 0 || !GST_CLOCK_TIME_IS_VALID(now_)) return ways_.clear();
  for (auto &[track, way] : ways_)
    std::erase_if(way, [&](const Point &p) { return p.time > now_ || now_ - p.time >= length_; });
  std::erase_if(ways_, [](const auto &entry) { return entry.second.empty(); });
  for (const AttachedBox &box : boxes)
    if (box.track_id && (ways_.size() < kMostTracks || ways_.contains(*box.track_id)))
      append(&ways_[*box.track_id], {now_, box.x + box.width / 2, box.y + box.height});
}

// Appends a point, in place of the last one if that has the same time or follows the one before it too soon.
void Trails::append(Way *way, const Point &point) const {
  const std::size_t count = way->size();
  const bool is_dense =
      count >= 2 && (*way)[count - 1].time - (*way)[count - 2].time < length_ / (kMostPoints - 2);
  if (is_dense || (count >= 1 && way->back().time == point.time)) way->pop_back();
  if (way->size() < kMostPoints) way->push_back(point);
}

void ShownTypes::set(const std::optional<std::string> &show, const std::optional<std::string> &hide) {
  if (show != show_) show_ = show, shown_ = TypeList(show.value_or(""));
  if (hide != hide_) hide_ = hide, hidden_ = TypeList(hide.value_or(""));
}

}  // namespace cudavision
