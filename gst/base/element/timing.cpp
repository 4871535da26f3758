// SPDX-License-Identifier: LGPL-2.1-or-later
// The times of a stream.
#include "gst/base/element/timing.h"

#include <algorithm>
#include <utility>

#include "cuda/common/number_text.h"

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

std::string Punctuality::take(GstEvent *qos, GstClockTime processing_time, const char *faster) {
  const std::optional<GstClockTimeDiff> lateness = too_late(qos);
  if (!lateness) return {};
  const auto seconds = [](GstClockTime time, int decimals) {
    return text_of(static_cast<double>(time) / GST_SECOND, decimals, std::chars_format::fixed);
  };
  return "Every frame of the last " + std::to_string(kPatience / GST_SECOND) +
         " s was late, the last one by " + seconds(static_cast<GstClockTime>(*lateness), 2) +
         " s; this element takes " + seconds(processing_time, 4) +
         " s for a frame. In live video, put \"queue leaky=downstream max-size-buffers=1\" before it and "
         "\"queue\" "
         "behind it. It takes less " +
         (faster != nullptr ? std::string("with ") + faster + ", " : "") +
         "for smaller frames, a region of interest or a greater every-nth";
}

}  // namespace cudavision
