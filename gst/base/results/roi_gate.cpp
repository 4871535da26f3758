// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/results/roi_gate.h"

#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <cstdint>

#include "gst/base/results/frame_notes.h"

namespace cudavision {
namespace {

std::int64_t area(const Region &r) { return std::int64_t{r.width} * r.height; }

Region clipped(const Region &r, Size size) {
  const int x = std::clamp(r.x, 0, size.width), y = std::clamp(r.y, 0, size.height);
  return {x, y, std::clamp(r.x + r.width, 0, size.width) - x, std::clamp(r.y + r.height, 0, size.height) - y};
}

// The region, enlarged by `margin` pixels on each side, or reduced if `margin` is negative.
Region grown(const Region &r, int margin) {
  return {r.x - margin, r.y - margin, r.width + 2 * margin, r.height + 2 * margin};
}

}  // namespace

Status RoiGate::find(const Job &job, const std::optional<std::string> &type, int margin) {
  merged_.clear(), regions_.clear();
  is_open_ = !type, look_ = Look::whole;
  if (is_open_) return {};
  const StopFlag &stop = *job.execution.stop;
  found_.read(job.buffer, job.frame.size(), stop, "roi-type", *type);
  const Size size{job.region.width, job.region.height};
  const char *name = *type == "*" ? nullptr : type->c_str();
  const bool is_blind = is_blind_for(job.buffer, name);
  if (is_blind) add(grown({0, 0, size.width, size.height}, margin));
  look_ = is_blind ? Look::whole : look_of_source(job.buffer, name);
  for (const Region &r : found_.regions()) {
    if (stop.requested()) return Status(Status::Code::stopped);
    const Region part = clipped({r.x - job.region.x, r.y - job.region.y, r.width, r.height}, size);
    if (part.width > 0 && part.height > 0) add(grown(part, margin));
  }
  for (const Region &r : merged_) regions_.push_back({grown(r, -margin), clipped(r, size)});
  return stop.requested() ? Status(Status::Code::stopped) : Status();
}

Look RoiGate::look_of_source(GstBuffer *buffer, const char *name) {
  const bool is_marked = gst_cuda_vision_buffer_get_n_results(buffer, name) >= 0,
             is_partial = has_partial_look(buffer, name);
  source_marks_ = source_marks_ || is_marked || is_partial;
  if (is_marked) return Look::whole;
  if (source_marks_) return is_partial ? Look::part : Look::none;
  return found_.regions().empty() ? Look::part : Look::whole;
}

Places RoiGate::places() const {
  Places places;
  if (is_open_) return places;
  places.count = static_cast<int>(regions_.size());
  std::transform(regions_.begin(), regions_.end(), places.region,
                 [](const GatedRegion &gated) { return gated.region; });
  return places;
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
