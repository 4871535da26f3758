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
      segment.rate > 0 || GST_CLOCK_TIME_IS_VALID(segment.stop);  // in reverse it is the stop
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

bool Continuity::continues(GstBuffer *frame, const GstSegment &segment) {
  const GstClockTime last = last_pts_, pts = GST_BUFFER_PTS(frame);
  const bool reverse = segment.rate < 0, turns = reverse != std::exchange(reverse_, reverse);
  const bool may_jump =
      std::exchange(jump_, false) || turns || GST_BUFFER_FLAG_IS_SET(frame, GST_BUFFER_FLAG_DISCONT);
  last_pts_ = pts;
  const bool follows =
      GST_CLOCK_TIME_IS_VALID(last) && GST_CLOCK_TIME_IS_VALID(pts) && (reverse ? pts < last : pts > last);
  if (!follows) return !may_jump;
  const GstClockTime gap = reverse ? last - pts : pts - last;
  const bool is_close = gap < std::max(kLeastGap, kMostDistances * distance()) && !turns;
  distances_[count_++ % distances_.size()] = gap;
  return is_close || !may_jump;
}

GstClockTime Continuity::distance() const {
  const std::size_t count = std::min(count_, distances_.size());
  if (count < kEnough && frame_duration_ > 0) return frame_duration_;
  if (count == 0) return 0;
  auto sorted = distances_;
  const std::size_t middle = (count - 1) / 2;
  std::nth_element(sorted.begin(), sorted.begin() + middle, sorted.begin() + count);
  const GstClockTime median = sorted[middle];
  if (count < kEnough) return std::min(kLeastGap, median);
  // The jitter of a camera does not contradict the caps.
  const bool is_near =
      median > frame_duration_ - frame_duration_ / 4 && median < frame_duration_ + frame_duration_ / 4;
  return is_near ? frame_duration_ : median;
}

GstClockTime Continuity::distance_before(GstClockTime processing_time) const {
  const GstClockTime measured = distance();
  const bool is_its_own = frame_duration_ > 0 && measured < frame_duration_ + 3 * processing_time;
  return is_its_own ? std::min(measured, frame_duration_) : measured;
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
  } else if (!GST_CLOCK_TIME_IS_VALID(late_since_) || time < late_since_) {  // smaller after a seek
    late_since_ = time;
  } else if (time - late_since_ > kPatience && !told_) {
    told_ = true;
    return lateness;
  }
  return std::nullopt;
}

}  // namespace cudavision
