// SPDX-License-Identifier: LGPL-2.1-or-later
// The property roi-type.
#include "gst/base/results/roi_gate.h"

#include <algorithm>
#include <cstdint>

namespace cudavision {
namespace {

bool overlap(const Region &a, const Region &b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

Region around(const Region &a, const Region &b) {
  const int x = std::min(a.x, b.x), y = std::min(a.y, b.y);
  return {x, y, std::max(a.x + a.width, b.x + b.width) - x, std::max(a.y + a.height, b.y + b.height) - y};
}

std::int64_t area(const Region &r) { return std::int64_t{r.width} * r.height; }

// The part of [first, first + length), and of `margin` pixels on both sides, that lies in [begin, begin + side). Relative to
// begin.
struct Part {
  int first, length;
};
Part clipped(int first, int length, int margin, int begin, int side) {
  const int from = std::clamp(first - begin - margin, 0, side),
            to = std::clamp(first - begin + length + margin, 0, side);
  return {from, to - from};
}

}  // namespace

Status RoiGate::find(const Job &job, const std::optional<std::string> &type, int margin) {
  merged_.clear();
  is_open_ = !type;
  if (is_open_) return {};
  const StopFlag &stop = *job.execution.stop;
  found_.read(job.buffer, job.frame.size(), stop, "roi-type", *type);
  for (const Region &r : found_.regions()) {
    if (stop.requested()) return Status(Status::Code::stopped);
    // A region beside the region of interest is not analysed, even if its margin would reach it.
    if (!overlap(r, job.region)) continue;
    const Part x = clipped(r.x, r.width, margin, job.region.x, job.region.width),
               y = clipped(r.y, r.height, margin, job.region.y, job.region.height);
    add({x.first, y.first, x.length, y.length});
  }
  return stop.requested() ? Status(Status::Code::stopped) : Status();
}

void RoiGate::add(Region region) {
  for (;;) {
    auto other =
        std::find_if(merged_.begin(), merged_.end(), [&](const Region &r) { return overlap(r, region); });
    if (other == merged_.end() && merged_.size() == static_cast<std::size_t>(kMostRegions)) {
      const auto growth = [&](const Region &r) { return area(around(r, region)) - area(r); };
      other = std::min_element(merged_.begin(), merged_.end(),
                               [&](const Region &a, const Region &b) { return growth(a) < growth(b); });
    }
    if (other == merged_.end()) break;
    region = around(region, *other);
    merged_.erase(other);
  }
  merged_.push_back(region);
}

}  // namespace cudavision
