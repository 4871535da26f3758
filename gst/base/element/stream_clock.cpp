// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/element/stream_clock.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cudavision {
namespace {

constexpr std::size_t kEnough = 5;  // so many distances can contradict the caps
constexpr GstClockTime kLeastPause = 2 * GST_SECOND, kHour = 3600 * GST_SECOND, kDay = 24 * kHour,
                       kGrid = 100 * GST_USECOND;
constexpr guint64 kMostCounted = 1'000'000;  // frames whose durations, each at most two hours, are added up
// Thresholds for ratios of durations. No two common frame rates have these ratios, so jitter does not change decisions.
// If the rate of the caps is more than kMostMissing times the rate at which frames arrive, the caps are not believed.
constexpr double kLeastRatio = 0.77, kMostOff = 0.23, kMostMissing = 16;

double ratio(GstClockTime a, GstClockTime b) { return static_cast<double>(a) / static_cast<double>(b); }

// The distance in frame durations. Rounds to 1/64 first, so that 1.5 (1/20 s by 1/30 s) rounds alike with jitter.
guint64 rounded_frames(GstClockTime distance, GstClockTime duration) {
  constexpr guint64 kMost = guint64{64} * (G_MAXINT / 2);
  return (std::min(gst_util_uint64_scale_round(distance, 64, duration), kMost) + 32) / 64;
}

}  // namespace

void StreamClock::follow_caps(GstClockTime duration) {
  if (duration >= kHour) duration = 0;
  if (duration == caps_duration_) return;
  caps_duration_ = duration;
  recent_ = {}, learned_ = 0;
  if (!GST_CLOCK_TIME_IS_VALID(last_)) duration_ = duration;  // no timestamp has come yet
}

void StreamClock::restart() {
  const GstClockTime duration = caps_duration_;
  *this = {};
  caps_duration_ = duration_ = duration;
}

void StreamClock::learn(GstClockTime distance) {
  recent_[learned_++ % recent_.size()] = std::max<GstClockTime>(distance, 1);
}

GstClockTime StreamClock::longest() const {
  return std::max(duration(), *std::max_element(recent_.begin(), recent_.end()));
}

// Returns Tick::scale. A distance that is the median of the others leaves it as it is.
double StreamClock::update_duration() {
  const std::size_t known = std::min(learned_, recent_.size());
  if (known == recent_.size() && recent_[(learned_ - 1) % known] == typical_) return 1;
  GstClockTime wanted = caps_duration_;
  if (known > 0) {
    auto sorted = recent_;
    const auto middle = sorted.begin() + (known - 1) / 2;
    std::nth_element(sorted.begin(), middle, sorted.begin() + known);
    typical_ = *middle;
    const double missing = wanted > 0 ? ratio(typical_, wanted) : 0;
    const bool possible = missing > kLeastRatio && missing < kMostMissing + kMostOff &&
                          std::abs(missing - std::round(missing)) < kMostOff;
    if (!possible && (wanted == 0 || known >= kEnough))
      wanted = std::max((typical_ + kGrid / 2) / kGrid, GstClockTime{1}) * kGrid;
  }
  const GstClockTime before = duration_;
  const double change = wanted > 0 && before > 0 ? ratio(wanted, before) : 0;
  if (wanted == 0 || (change > kLeastRatio && change < 1 / kLeastRatio)) return 1;
  duration_ = wanted;
  if (before == 0 || known == 0) return before == 0 ? 1 : change;
  const auto steps = [this](GstClockTime duration) {
    return static_cast<double>(std::clamp<guint64>(rounded_frames(typical_, duration), 1, kMostSteps));
  };
  return steps(before) / steps(wanted);
}

// The time from last_ to this later timestamp, without what the frames between them have counted; at least 1 ns.
GstClockTime StreamClock::uncounted(GstClockTime pts) const {
  const GstClockTime whole = distance(pts), counted = std::min(counted_, kMostCounted) * duration();
  return whole > counted ? whole - counted : 1;
}

bool StreamClock::follows(GstClockTime pts) const {
  if (!is_ahead(pts)) return distance(pts) <= 4 * duration();
  const GstClockTime time = uncounted(pts);
  return time < kHour && (learned_ == 0 || time <= kLeastPause || time <= 5 * longest());
}

// Goes on from a timestamp to which time has jumped, and whose frame has counted. Returns Tick::pause.
GstClockTime StreamClock::jump_to(GstClockTime pts) {
  const GstClockTime pause = is_ahead(pts) ? uncounted(pts) : 0;
  if (pause > 0 && pause < kHour) learn(pause + duration());
  last_ = pts, counted_ = 0;
  return pause <= kDay ? pause : 0;
}

Tick StreamClock::next(GstClockTime pts, bool is_discont, bool reverse) {
  using Place = Tick::Place;
  const bool turns = reverse != std::exchange(reverse_, reverse), is_known = GST_CLOCK_TIME_IS_VALID(pts);
  const bool announced = std::exchange(announced_, false) || turns || is_discont;
  Tick tick;
  if (learned_ == 0) tick.scale = update_duration();  // the caps may have changed
  tick.time = tick.step = tick.duration = duration();
  const GstClockTime stray = std::exchange(stray_, GST_CLOCK_TIME_NONE);
  const bool in_doubt = GST_CLOCK_TIME_IS_VALID(stray);
  if (in_doubt) tick.place = is_known && !announced && follows(pts) ? Place::returns : Place::confirms;
  if (tick.place == Place::confirms) tick.pause = jump_to(stray);
  if (!is_known || !GST_CLOCK_TIME_IS_VALID(last_)) {
    if (announced) tick.place = Place::jumps;
    if (is_known && counted_ == 0) tick.time = 0;  // the first frame of all
    counted_ = is_known ? 0 : counted_ + 1;
    if (is_known) last_ = pts;
    return tick;
  }
  const bool ahead = is_ahead(pts), is_next = follows(pts) && !turns && (ahead || !announced);
  const guint64 whole = distance(pts), counted = counted_, time = ahead && !turns ? uncounted(pts) : 0;
  tick.is_long = learned_ > 0 && time / 2 > duration() && time / 2 > longest();
  if (is_next && ahead) {
    learn(whole / (counted + 1));
    tick.scale *= update_duration(), tick.duration = duration();
  }
  if (time > 0 && time <= kDay) {
    const guint64 frames = rounded_frames(whole, duration());
    tick.step = time;
    tick.frames = frames > counted ? static_cast<int>(frames - counted) : 1;
  } else if (!is_next) {
    tick.step = 0;
  }
  counted_ = is_next && ahead ? 0 : counted_ + 1;
  if (is_next && ahead) tick.time = tick.step, last_ = pts;
  if (!is_next) tick.place = announced || in_doubt ? Place::jumps : Place::stray;
  if (tick.place == Place::stray) stray_ = pts;
  if (tick.place == Place::jumps) tick.pause += jump_to(pts);
  return tick;
}

}  // namespace cudavision
