// SPDX-License-Identifier: LGPL-2.1-or-later
// The union of rectangles, as rectangles that do not overlap.
#include "cuda/hog/parts_cpu.h"

#include <algorithm>

namespace cudavision::hog {

void Parts::add(const Region &region) {
  if (is_empty(region)) return;
  whole_.push_back(region);
  edges_.push_back(region.y), edges_.push_back(region.y + region.height);
}

void Parts::find_intervals(int y) {
  intervals_.clear();
  for (const Region &r : whole_)
    if (y >= r.y && y < r.y + r.height) intervals_.push_back({r.x, r.x + r.width});
  std::sort(intervals_.begin(), intervals_.end(),
            [](const Interval &a, const Interval &b) { return a.first < b.first; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < intervals_.size(); ++i) {
    if (intervals_[i].first <= intervals_[last].end)
      intervals_[last].end = std::max(intervals_[last].end, intervals_[i].end);
    else
      intervals_[++last] = intervals_[i];
  }
  if (!intervals_.empty()) intervals_.resize(last + 1);
}

// Between two neighbouring edges, all rows have the same intervals.
void Parts::end(int most_rows) {
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  for (std::size_t i = 1; i < edges_.size(); ++i) {
    find_intervals(edges_[i - 1]);
    for (int y = edges_[i - 1]; y < edges_[i]; y += most_rows)
      for (const Interval &x : intervals_)
        parts_.push_back({x.first, y, x.end - x.first, std::min(most_rows, edges_[i] - y)});
  }
}

}  // namespace cudavision::hog
