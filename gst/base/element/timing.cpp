// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/element/timing.h"

#include <algorithm>
#include <functional>

#include "cuda/common/number_text.h"

namespace cudavision {
namespace {

// A reverse segment begins at its stop.
bool has_times(const GstSegment &segment) {
  return segment.format == GST_FORMAT_TIME && (segment.rate > 0 || GST_CLOCK_TIME_IS_VALID(segment.stop));
}

}  // namespace

GstClockTime to_stream_time(const GstSegment &segment, GstClockTime pts) {
  if (!has_times(segment)) return GST_CLOCK_TIME_NONE;
  return gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, pts);
}

GstClockTime to_running_time(const GstSegment &segment, GstClockTime pts) {
  if (!has_times(segment)) return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time(&segment, GST_FORMAT_TIME, pts);
}

bool begins_another_stream(GstPad *sink, GstEvent *stream_start) {
  const gchar *id = nullptr;
  gst_event_parse_stream_start(stream_start, &id);
  g_autofree gchar *before = gst_pad_get_stream_id(sink);
  return g_strcmp0(id, before) != 0;
}

// --- PromisedLatency ---

void PromisedLatency::restart() {
  live_ = false;
  promised_ = hold_time_ = 0;
  times_ = {};
  taken_ = frames_ = 0;
}

// An element that is put into a playing pipeline has not seen a latency query: it asks the elements before it.
bool PromisedLatency::begin_frame(GstPad *sink) {
  if (frames_ == 0) {
    g_autoptr(GstQuery) query = gst_query_new_latency();
    gboolean live = FALSE;
    if (gst_pad_peer_query(sink, query)) gst_query_parse_latency(query, &live, nullptr, nullptr);
    live_ = live != FALSE;
  }
  const bool is_chosen = frames_++ % kFrames == 0 || taken_ < times_.size();
  return live_ && is_chosen;
}

// Follows the second longest of the last processing times. The longest does not count: it may be that of the first
// frame after a start, or of a frame during which the thread was interrupted. Promises a quarter more, because some
// frames take longer than most. An element that takes longer than a frame lasts gets frames that have waited for it in
// a queue, for up to a frame duration.
bool PromisedLatency::take(GstClockTime processing_time, GstClockTime frame_duration) {
  constexpr GstClockTime kLeast = GST_MSECOND, kMost = 10 * GST_SECOND;  // that are promised
  times_[taken_ % times_.size()] = processing_time;
  if (taken_++ == 0) return live_ && hold_time_ > 0;  // in a pipeline that plays, nobody has asked for it
  if (processing_time < kLeast) return false;
  auto sorted = times_;
  std::nth_element(sorted.begin(), sorted.begin() + 1, sorted.end(), std::greater<>());
  const GstClockTime time = sorted[1];
  GstClockTime wanted = time + time / 4;
  if (frame_duration > 0 && wanted >= frame_duration) wanted += frame_duration;
  wanted = std::min(wanted, kMost);
  if (time < kLeast || wanted <= promised_ + promised_ / 16) return false;
  promised_ = wanted;
  return live_;
}

void PromisedLatency::add_to(GstQuery *latency) {
  gboolean live = FALSE;
  GstClockTime least = 0, most = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(latency, &live, &least, &most);
  live_ = live != FALSE;
  const GstClockTime own = promised_ + hold_time_;
  gst_query_set_latency(latency, live, least + own, GST_CLOCK_TIME_IS_VALID(most) ? most + own : most);
}

// --- Punctuality ---

bool Punctuality::is_hopeless(GstClockTime time, GstClockTimeDiff lateness, GstClockTime frame_duration) {
  const bool is_late = lateness > static_cast<GstClockTimeDiff>(std::max(frame_duration, kLeastLateness));
  const GstClockTime since = late_since_;
  const bool is_long = is_late && since < kTold && time > since && time - since > kPatience;
  if (!is_late)
    late_since_ = GST_CLOCK_TIME_NONE;
  else if (is_long)
    late_since_ = kTold;
  else if (since != kTold && time < since)  // the first late frame, or after a seek
    late_since_ = time;
  return is_long;
}

std::string warning_of_lateness(GstClockTimeDiff lateness, GstClockTime processing_time, const char *faster) {
  const auto seconds = [](double time, int decimals) {
    return text_of(time / GST_SECOND, decimals, std::chars_format::fixed);
  };
  return "Every frame of the last " + std::to_string(Punctuality::kPatience / GST_SECOND) +
         " s was late, the last one by " + seconds(static_cast<double>(lateness), 2) +
         " s; this element takes " + seconds(static_cast<double>(processing_time), 4) +
         " s for a frame. In live video, put \"queue leaky=downstream max-size-buffers=1\" before it and "
         "\"queue\" behind it. It takes less " +
         (faster != nullptr ? std::string("with ") + faster + ", " : "") +
         "for smaller frames, a region of interest or a greater every-nth";
}

}  // namespace cudavision
