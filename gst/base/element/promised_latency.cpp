// SPDX-License-Identifier: LGPL-2.1-or-later
// The latency that an element promises in a live pipeline.
#include "gst/base/element/promised_latency.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "gst/base/element/timing.h"

namespace cudavision {
namespace {

constexpr GstClockTime kLeast = GST_MSECOND;  // a shorter processing time is not promised
constexpr GstClockTime kMost = 10 * GST_SECOND, kMostHeld = 60 * GST_SECOND, kMostOfAll = GST_SECOND * 3600;
constexpr GstClockTime kMostSlack = 20 * GST_MSECOND;  // the default processing-deadline of sinks
constexpr std::size_t kManyFrames = 256;
constexpr int kManyShorter = 32;
constexpr GstClockTimeDiff kNear = 10 * GST_MSECOND;  // reports of one sink differ by less
constexpr const char *kPromiseEvent = "GstCudaVisionPromisedLatency";

// The current running time minus another one; nothing if one is unknown, or if more than an hour lies between them.
std::optional<GstClockTimeDiff> age_at(GstClockTime running_time, GstElement *element) {
  const GstClockTime now = gst_element_get_current_running_time(element);
  if (!GST_CLOCK_TIME_IS_VALID(running_time) || !GST_CLOCK_TIME_IS_VALID(now)) return std::nullopt;
  const GstClockTime apart = std::max(running_time, now) - std::min(running_time, now);
  return apart > kMostOfAll ? std::nullopt : std::optional(GST_CLOCK_DIFF(running_time, now));
}

// Whether the time is worth a message. A little more is not: each latency message changes how long sinks wait.
bool is_more(GstClockTime time, GstClockTime told) { return time > told + told / 16; }

}  // namespace

void PromisedLatency::restart() {
  live_ = false;
  before_ = promised_ = held_ = of_pipeline_ = 0;
  allowed_ = longest_ = frame_distance_ = last_begin_ = 0;
  busy_ = last_taken_ = 0;
  is_dropping_ = false;
  is_behind_ = false;
  count_ = 0;
  dropped_ = 0;
  shorter_ = 0;
  longest_shorter_ = 0;
  forget_sink();
}

// The second longest of the last processing times. The longest does not count: it may be that of the first frame after
// a start, or of a frame during which the thread was interrupted.
GstClockTime PromisedLatency::typical() const {
  const std::size_t count = std::min(count_, times_.size());
  if (count < 2) return 0;
  auto sorted = times_;
  std::nth_element(sorted.begin(), sorted.begin() + 1, sorted.begin() + count, std::greater<>());
  return sorted[1];
}

// An element that takes longer for a frame than the time from one frame to the next (frame_distance) is never ready
// when a frame arrives. The frame that it takes next is up to one frame_distance old, which is promised in addition.
bool PromisedLatency::take(GstClockTime processing_time, GstClockTime frame_distance, int every_nth) {
  times_[count_++ % times_.size()] = processing_time;
  const GstClockTime time = typical();
  if (time >= kLeast && time > allowed_) allowed_ = time + time / 4;
  longest_ = std::max(longest_, time);
  if (count_ % kManyFrames == 0) {  // the promise may fall: an overload may have ended
    if (longest_ + longest_ / 4 < allowed_ / 2) allowed_ = longest_ + longest_ / 4;
    longest_ = 0;
  }
  frame_distance_ = every_nth > 1 ? 0 : frame_distance;  // no drops: unprocessed frames would still pass
  is_behind_ = frame_distance > 0 && allowed_ >= frame_distance;
  const GstClockTime promise = std::min(kMost, allowed_ + (is_behind_ ? frame_distance : 0));
  if (!is_more(promise, promised_) && promise >= promised_ / 2) return false;
  promised_ = promise;
  return live_;
}

bool PromisedLatency::hold(GstClockTime time) {
  const GstClockTime held = std::min(time, kMostHeld), told = held_;
  const bool rises = is_more(held, told);
  if (rises || held >= told - told / 4) {
    shorter_ = 0, longest_shorter_ = 0;
    if (rises) held_ = held;
    return rises && live_;
  }
  longest_shorter_ = std::max(longest_shorter_, held);
  if (++shorter_ < kManyShorter) return false;
  held_ = std::exchange(longest_shorter_, 0);
  shorter_ = 0;
  return live_;
}

void PromisedLatency::add_to(GstQuery *latency) {
  gboolean live = FALSE;
  GstClockTime least = 0, most = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(latency, &live, &least, &most);
  live_ = live != FALSE;
  before_ = least;
  if (!live) return;
  const GstClockTime own = promised_ + held_;
  gst_query_set_latency(latency, live, least + own, GST_CLOCK_TIME_IS_VALID(most) ? most + own : most);
}

// An element that keeps up with the stream catches up after a delay without drops. An element that does not keep up
// drops the frames that came while it worked on the last one (busy_), and has then caught up. If frames are still late,
// there is another reason, and to drop more would not help.
bool PromisedLatency::drops(GstBaseTransform *element, GstBuffer *frame) {
  const bool keeps_up = typical() + typical() / 4 < frame_distance_ || frame_distance_ == 0;
  if (!live_ || keeps_up || !gst_base_transform_is_qos_enabled(element)) return false;
  const GstClockTime running_time = to_running_time(element->segment, GST_BUFFER_PTS(frame));
  const std::optional<GstClockTimeDiff> age = age_at(running_time, GST_ELEMENT(element));
  if (!age) return false;
  const GstClockTime now = running_time + static_cast<GstClockTime>(*age);
  if (!is_dropping_) {
    const GstClockTime longest = longest_hold() + 2 * typical();  // limits busy_ after a pause
    busy_ = now > last_begin_ ? std::min(now - last_begin_, longest) : 0;
  }
  const bool has_caught_up =
      running_time < last_taken_ || running_time - last_taken_ > busy_ + frame_distance_ / 2;
  is_dropping_ = lateness(*age) > 0 && !has_caught_up;
  if (is_dropping_) {
    tell_of_dropped(element, frame);
    tell_promise(element);  // upstream elements may have forgotten it
    return true;
  }
  last_begin_ = now, last_taken_ = running_time;
  return false;
}

void PromisedLatency::tell_of_dropped(GstBaseTransform *element, GstBuffer *frame) {
  const GstClockTime pts = GST_BUFFER_PTS(frame), running_time = to_running_time(element->segment, pts);
  GstMessage *message =
      gst_message_new_qos(GST_OBJECT(element), live_, running_time, to_stream_time(element->segment, pts),
                          pts, GST_BUFFER_DURATION(frame));
  const GstClockTimeDiff late_by = lateness(age_at(running_time, GST_ELEMENT(element)).value_or(0));
  gst_message_set_qos_values(message, std::max<GstClockTimeDiff>(late_by, 0), 1, 1000000);
  gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, count_, ++dropped_);
  gst_element_post_message(GST_ELEMENT(element), message);
}

GstClockTimeDiff PromisedLatency::lateness(GstClockTimeDiff age) const {
  return age + static_cast<GstClockTimeDiff>(typical()) - latest();
}

GstClockTimeDiff PromisedLatency::latest() const {
  const auto behind = static_cast<GstClockTimeDiff>(behind_.load());
  if (shown_ != kNotShown) return std::max(shown_ - behind, static_cast<GstClockTimeDiff>(typical()));
  const auto promised = static_cast<GstClockTimeDiff>(before_ + promised_ + held_),
             of_pipeline = static_cast<GstClockTimeDiff>(of_pipeline_);
  return promised + std::clamp<GstClockTimeDiff>(of_pipeline - promised - behind, 0, kMostSlack);
}

GstClockTime PromisedLatency::longest_hold() const {
  return std::max<GstClockTime>(of_pipeline_, std::max<GstClockTimeDiff>(shown_, 0));
}

void PromisedLatency::forget_sink() {
  shown_ = kNotShown;
  behind_ = 0;
}

// GStreamer's sinks send a QoS event after they have shown a frame, in the thread that waited for its time. A sink that
// does not wait for the clock reports a lateness of 0 each time.
void PromisedLatency::take_qos(GstElement *element, GstEvent *event) {
  GstQOSType type{};
  GstClockTimeDiff late_by = 0;
  GstClockTime running_time = GST_CLOCK_TIME_NONE;
  gst_event_parse_qos(event, &type, nullptr, &late_by, &running_time);
  // Includes the time that the sink took to show this frame, which may have been unusually long.
  const std::optional<GstClockTimeDiff> age = age_at(running_time, element);
  if (type == GST_QOS_TYPE_THROTTLE || !age || late_by == 0 ||
      late_by > static_cast<GstClockTimeDiff>(kMostOfAll))
    return;
  const GstClockTimeDiff shown = *age - std::max<GstClockTimeDiff>(late_by, 0);
  const GstClockTime now = running_time + static_cast<GstClockTime>(*age);
  // Of several sinks the earliest counts, as long as it reports.
  const bool is_earliest = shown_ == kNotShown || shown < shown_ + kNear || now - reported_ > GST_SECOND;
  if (!is_earliest) return;
  shown_ = shown;
  reported_ = now;
}

void PromisedLatency::tell_promise(GstBaseTransform *element) const {
  const GstClockTime promise = promised_ + held_ + behind_;
  if (!live_ || promise == 0) return;
  GstStructure *told = gst_structure_new(kPromiseEvent, "latency", G_TYPE_UINT64, promise, nullptr);
  gst_pad_push_event(GST_BASE_TRANSFORM_SINK_PAD(element),
                     gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, told));
}

// If the pipeline branches behind this element, each branch sends its promise: the longest counts.
bool PromisedLatency::take_promise(GstEvent *event) {
  guint64 promise = 0;
  if (GST_EVENT_TYPE(event) != GST_EVENT_CUSTOM_UPSTREAM || !gst_event_has_name(event, kPromiseEvent))
    return false;
  if (!gst_structure_get_uint64(gst_event_get_structure(event), "latency", &promise) || promise > kMostOfAll)
    return true;
  const gint64 now = g_get_monotonic_time();
  if (promise < behind_ && now - told_ < G_USEC_PER_SEC) return true;
  behind_ = promise;
  told_ = now;
  return true;
}

void PromisedLatency::take_event(GstEvent *event) {
  GstClockTime latency = 0;
  gst_event_parse_latency(event, &latency);
  of_pipeline_ = latency;
}

}  // namespace cudavision
