// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visiontrack/frame_steps.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace cudavision {
namespace {

// Thresholds for ratios of durations. No two common frame rates have these ratios, so jitter does not change decisions.
constexpr double kLeastRatio = 0.77, kMostRatio = 1 / kLeastRatio, kMostOff = 0.23;
// If the rate of the caps is more than this many times the rate at which frames arrive, the caps are not believed.
constexpr double kMostMissing = 16;
constexpr std::size_t kEnough = 5;  // distances that are needed to contradict the caps
constexpr GstClockTime kGrid = 100 * GST_USECOND;

double ratio(GstClockTime a, GstClockTime b) { return static_cast<double>(a) / static_cast<double>(b); }

bool is_similar(GstClockTime a, GstClockTime b) {
  return ratio(a, b) > kLeastRatio && ratio(a, b) < kMostRatio;
}

// The distance in frame durations. Rounds to 1/64 first, so that 1.5 (1/20 s by 1/30 s) rounds alike with jitter.
int rounded_frames(GstClockTime distance, GstClockTime duration) {
  constexpr guint64 kMost = guint64{64} * (G_MAXINT / 2);
  return static_cast<int>((std::min(gst_util_uint64_scale_round(distance, 64, duration), kMost) + 32) / 64);
}

}  // namespace

void FrameSteps::follow_caps(GstClockTime duration) {
  if (duration == caps_duration_) return;
  caps_duration_ = duration;
  recent_.clear();
  if (!GST_CLOCK_TIME_IS_VALID(last_pts_)) duration_ = duration;  // no timestamp has come yet
}

void FrameSteps::restart() {
  last_pts_ = GST_CLOCK_TIME_NONE;
  unstamped_ = 0;
  jump_ = false;
  recent_.clear();
  duration_ = caps_duration_;
}

GstClockTime FrameSteps::longest() const {
  return recent_.empty() ? 0 : *std::max_element(recent_.begin(), recent_.end());
}

GstClockTime FrameSteps::typical() const {
  if (recent_.empty()) return 0;
  std::vector<GstClockTime> sorted(recent_.begin(), recent_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

GstClockTime FrameSteps::wanted_duration() const {
  const GstClockTime typical = this->typical();
  if (typical == 0) return caps_duration_;
  if (caps_duration_ != 0) {
    const double missing = ratio(typical, caps_duration_);
    const bool possible = missing > kLeastRatio && missing < kMostMissing + kMostOff &&
                          std::abs(missing - std::round(missing)) < kMostOff;
    if (possible || recent_.size() < kEnough) return caps_duration_;
  }
  return std::max((typical + kGrid / 2) / kGrid, GstClockTime{1}) * kGrid;
}

double FrameSteps::update_duration() {
  const GstClockTime wanted = wanted_duration(), typical = this->typical();
  if (wanted == 0 || (duration_ != 0 && is_similar(wanted, duration_))) return 1;
  const GstClockTime before = std::exchange(duration_, wanted);
  if (before == 0) return 1;
  if (typical == 0) return ratio(wanted, before);
  const auto steps = [typical](GstClockTime duration) {
    return static_cast<double>(std::clamp(rounded_frames(typical, duration), 1, kMostSteps));
  };
  return steps(before) / steps(wanted);
}

FrameStep FrameSteps::next(GstClockTime pts, bool reverse) {
  FrameStep step;
  if (recent_.empty()) step.scale = update_duration();  // the caps may have changed
  step.time = duration_;
  if (!GST_CLOCK_TIME_IS_VALID(pts)) {
    unstamped_ = std::min(unstamped_, G_MAXINT - 1) + 1;
    return step;
  }
  const GstClockTime last = std::exchange(last_pts_, pts);
  const int unstamped = std::exchange(unstamped_, 0);
  const bool jump = std::exchange(jump_, false);
  if (!GST_CLOCK_TIME_IS_VALID(last)) return step;
  if (pts == last) {
    step.follows = !jump;
    return step;
  }
  const GstClockTime distance = pts > last ? pts - last : last - pts;
  if ((pts < last) != reverse) {  // two frames that have changed places, or a jump
    step.follows = !jump && distance <= 2 * std::max(longest(), duration_);
    return step;
  }
  step.as_usual = recent_.empty() || distance / 2 <= longest();
  recent_.push_back(std::max(distance / static_cast<guint64>(unstamped + 1), GstClockTime{1}));
  if (recent_.size() > kRecent) recent_.pop_front();
  step.scale *= update_duration();
  step.frames = std::max(1, rounded_frames(distance, duration_) - unstamped);
  const GstClockTime counted = static_cast<guint64>(unstamped) * duration_;
  step.time = distance > counted ? distance - counted : 0;
  return step;
}

}  // namespace cudavision
