// SPDX-License-Identifier: LGPL-2.1-or-later
// The times of a stream.
#include "gst/base/element/timing.h"

#include <algorithm>
#include <utility>

namespace cudavision {
namespace {

GstClockTime converted(guint64 (*convert)(const GstSegment *, GstFormat, guint64), const GstSegment &segment,
                       GstClockTime pts) {
  const bool has_begin =
      segment.rate > 0 || GST_CLOCK_TIME_IS_VALID(segment.stop);  // a reverse segment begins at its stop
  if (segment.format != GST_FORMAT_TIME || !has_begin || !GST_CLOCK_TIME_IS_VALID(pts))
    return GST_CLOCK_TIME_NONE;
  return convert(&segment, GST_FORMAT_TIME, pts);
}

}  // namespace

GstClockTime to_stream_time(const GstSegment &segment, GstClockTime pts) {
  return converted(gst_segment_to_stream_time, segment, pts);
}

GstClockTime to_running_time(const GstSegment &segment, GstClockTime pts) {
  return converted(gst_segment_to_running_time, segment, pts);
}

bool StreamId::changes(GstEvent *event) {
  const gchar *parsed = nullptr;
  gst_event_parse_stream_start(event, &parsed);
  if (g_strcmp0(id_.get(), parsed) == 0) return false;
  const bool comes_back = before_ && g_strcmp0(before_.get(), parsed) == 0;
  turns_ = comes_back && frames_ < kFewFrames ? turns_ + 1 : 0;
  frames_ = 0;
  before_ = std::move(id_);
  id_.reset(g_strdup(parsed));
  return true;
}

bool StreamId::take_turns() { return turns_ >= kManyTurns && !std::exchange(told_, true); }

void FrameDistance::take(GstBuffer *frame) {
  const GstClockTime pts = GST_BUFFER_PTS(frame), last = std::exchange(last_pts_, pts);
  if (!GST_CLOCK_TIME_IS_VALID(pts) || !GST_CLOCK_TIME_IS_VALID(last)) return;
  const GstClockTime gap = std::max(pts, last) - std::min(pts, last);
  // Timestamps may be anything, and sums of gaps must not overflow.
  constexpr GstClockTime kHour = GST_SECOND * 3600;
  if (gap >= kHour || (count_ > 0 && gap >= greatest_gap())) {  // another time or video
    count_ = 0;
    return;
  }
  // At a discontinuity at least one frame is missing: the gap spans two distances or more.
  GstClockTime distance = gap;
  if (GST_BUFFER_FLAG_IS_SET(frame, GST_BUFFER_FLAG_DISCONT))
    distance = std::min(gap / 2, frame_duration_ > 0 ? frame_duration_ : gap);
  const std::size_t i = count_++ % gaps_.size();
  gaps_[i] = gap, distances_[i] = distance;
}

void FrameDistance::set_frame_duration(GstClockTime frame_duration) {
  if (frame_duration != frame_duration_) count_ = 0;
  frame_duration_ = frame_duration;
}

GstClockTime FrameDistance::mean_distance() const {
  const std::size_t count = std::min(count_, distances_.size());
  GstClockTime longest = 0, sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    longest = std::max(longest, distances_[i]);
    sum += distances_[i];
  }
  const bool has_paused = count > 1 && longest > sum - longest;
  return has_paused ? (sum - longest) / (count - 1) : sum / std::max<std::size_t>(count, 1);
}

// The mean of the last gaps, without a single one that is much longer than most, such as a pause.
GstClockTime FrameDistance::usual_gap(std::size_t frames) const {
  constexpr GstClockTime kMuch = 4;
  Ring last;
  const std::size_t count = std::min({count_, frames, gaps_.size()}), middle = count / 2;
  if (count == 0) return 0;
  for (std::size_t i = 0; i < count; ++i) last[i] = gaps_[(count_ - 1 - i) % gaps_.size()];
  std::nth_element(last.begin(), last.begin() + middle, last.begin() + count);
  const GstClockTime most = kMuch * last[middle];
  GstClockTime sum = 0, longest = 0;
  std::size_t long_ones = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += last[i];
    longest = std::max(longest, last[i]);
    long_ones += last[i] > most;
  }
  return long_ones == 1 ? (sum - longest) / (count - 1) : sum / count;
}

GstClockTime FrameDistance::get() const {
  if (count_ < kEnough && frame_duration_ > 0) return frame_duration_;
  const GstClockTime mean = mean_distance();
  if (count_ < kEnough) return std::min(kLeastGap, mean);
  // If the mean is near the frame duration of the caps, the difference is jitter, as of a camera.
  const bool is_near =
      mean > frame_duration_ - frame_duration_ / 4 && mean < frame_duration_ + frame_duration_ / 4;
  return is_near ? frame_duration_ : mean;
}

GstClockTime FrameDistance::before(GstClockTime processing_time) const {
  const GstClockTime measured = get();
  const bool is_its_own = frame_duration_ > 0 && measured < frame_duration_ + 3 * processing_time;
  return is_its_own ? std::min(measured, frame_duration_) : measured;
}

GstClockTime FrameDistance::of_frames(std::size_t frames) const {
  constexpr std::size_t kFew = 8;  // as many gaps are needed for frames that come in pairs
  const GstClockTime mean = get(), usual = usual_gap(std::max(frames, kFew));
  const bool are_bursts = usual < mean / 4;  // most gaps are those within a burst
  const bool has_begun =
      count_ >= std::min(frames + kFew, gaps_.size());  // the first gaps are longer than others
  return frames * (!has_begun || are_bursts ? mean : usual);
}

bool Continuity::continues(GstBuffer *frame, const GstSegment &segment, GstClockTime greatest_gap) {
  const GstClockTime pts = GST_BUFFER_PTS(frame), last = std::exchange(last_pts_, pts);
  const bool reverse = segment.rate < 0, turns = reverse != std::exchange(reverse_, reverse);
  const bool may_jump =
      std::exchange(jump_, false) || turns || GST_BUFFER_FLAG_IS_SET(frame, GST_BUFFER_FLAG_DISCONT);
  const bool follows =
      GST_CLOCK_TIME_IS_VALID(last) && GST_CLOCK_TIME_IS_VALID(pts) && (reverse ? pts < last : pts > last);
  const bool is_close = follows && (reverse ? last - pts : pts - last) < greatest_gap && !turns;
  return is_close || !may_jump;
}

void Punctuality::restart(GstClockTime frame_duration) {
  const std::lock_guard lock(mutex_);
  frame_duration_ = frame_duration;
  late_since_ = GST_CLOCK_TIME_NONE;
  told_ = false;
}

std::optional<GstClockTimeDiff> Punctuality::too_late(GstEvent *qos) {
  GstQOSType type = GST_QOS_TYPE_UNDERFLOW;
  GstClockTimeDiff lateness = 0;
  GstClockTime time = GST_CLOCK_TIME_NONE;
  gst_event_parse_qos(qos, &type, nullptr, &lateness, &time);
  // A sink with throttle-time asks for fewer frames; it does not say that they are late.
  if (type == GST_QOS_TYPE_THROTTLE || !GST_CLOCK_TIME_IS_VALID(time)) return std::nullopt;
  if (lateness != 0) sink_tells_ = true;  // a sink that does not wait for the clock says 0 each time
  const std::lock_guard lock(mutex_);
  if (lateness <= static_cast<GstClockTimeDiff>(std::max(frame_duration_, kLeastLateness))) {
    late_since_ = GST_CLOCK_TIME_NONE;
    told_ = false;
  } else if (!GST_CLOCK_TIME_IS_VALID(late_since_) || time < late_since_) {  // time is smaller after a seek
    late_since_ = time;
  } else if (time - late_since_ > kPatience && !told_) {
    told_ = true;
    return lateness;
  }
  return std::nullopt;
}

}  // namespace cudavision
