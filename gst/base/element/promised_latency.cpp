// SPDX-License-Identifier: LGPL-2.1-or-later
// The latency that an element promises in a live pipeline.
#include "gst/base/element/promised_latency.h"

#include <algorithm>
#include <functional>

#include "gst/base/element/timing.h"

namespace cudavision {
namespace {

constexpr GstClockTime kLeast = GST_MSECOND;  // what takes less is not worth a promise
constexpr GstClockTime kMost = 10 * GST_SECOND, kMostHeld = 60 * GST_SECOND, kMostOfAll = GST_SECOND * 3600;
constexpr GstClockTime kMostSlack =
    20 * GST_MSECOND;  // what sinks allow by default, their processing-deadline
constexpr const char *kPromiseEvent = "GstCudaVisionPromisedLatency";

}  // namespace

void PromisedLatency::restart() {
  live_ = false;
  before_ = promised_ = held_ = of_pipeline_ = 0;
  allowed_ = frame_distance_ = last_begin_ = 0;
  busy_ = last_taken_ = 0;
  is_dropping_ = false;
  is_behind_ = false;
  in_time_ = late_ = 0;
  count_ = 0;
  forget_sink();
}

// The second longest of the last times: the first frame after a start, and a single one that was interrupted, take
// longer than all others.
GstClockTime PromisedLatency::typical() const {
  const std::size_t count = std::min(count_, times_.size());
  if (count < 2) return 0;
  auto sorted = times_;
  std::nth_element(sorted.begin(), sorted.begin() + 1, sorted.begin() + count, std::greater<>());
  return sorted[1];
}

// An element that takes longer than the distance of two frames is never ready when a frame arrives: the frame that it
// takes next is up to one distance old.
bool PromisedLatency::take(GstClockTime processing_time, GstClockTime frame_distance, int every_nth) {
  times_[count_++ % times_.size()] = processing_time;
  const GstClockTime time = typical();
  if (time >= kLeast && time > allowed_) allowed_ = time + time / 4;
  frame_distance_ = every_nth > 1 ? 0 : frame_distance;  // others would go on without a frame that is dropped
  is_behind_ = frame_distance > 0 && allowed_ >= frame_distance;
  const GstClockTime promise = std::min(kMost, allowed_ + (is_behind_ ? frame_distance : 0));
  if (promise <= promised_) return false;
  promised_ = promise;
  return live_;
}

// A little less is not worth a message, and what sinks wait for changes with each.
bool PromisedLatency::hold(GstClockTime time) {
  const GstClockTime held = std::min(time, kMostHeld), told = held_;
  if (held <= told && held >= told - told / 4) return false;
  held_ = held;
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

// What keeps up with the stream makes up for a delay by itself. To drop its frames would lose more than the delay. What does
// not keep up drops the frames of the time for which it worked on one. So it catches up; if frames are late for another
// reason, more would not help.
bool PromisedLatency::drops(GstBaseTransform *element, GstBuffer *frame) {
  const bool keeps_up = typical() + typical() / 4 < frame_distance_ || frame_distance_ == 0;
  if (!live_ || keeps_up || !gst_base_transform_is_qos_enabled(element)) return false;
  const GstClockTime running_time = to_running_time(element->segment, GST_BUFFER_PTS(frame));
  const GstClockTime now = gst_element_get_current_running_time(GST_ELEMENT(element));
  if (!GST_CLOCK_TIME_IS_VALID(running_time) || !GST_CLOCK_TIME_IS_VALID(now)) return false;
  if (!is_dropping_) {
    const GstClockTime longest = longest_hold() + 2 * typical();  // no more after a pause
    busy_ = now > last_begin_ ? std::min(now - last_begin_, longest) : 0;
  }
  const bool has_caught_up =
      running_time < last_taken_ || running_time - last_taken_ > busy_ + frame_distance_ / 2;
  is_dropping_ = lateness(element, frame) > 0 && !has_caught_up;
  if (is_dropping_) {
    tell_of_dropped(element, frame);
    tell_promise(element);  // those before may have forgotten it
    return true;
  }
  last_begin_ = now, last_taken_ = running_time;
  ++in_time_;
  return false;
}

void PromisedLatency::tell_of_dropped(GstBaseTransform *element, GstBuffer *frame) {
  const GstClockTime pts = GST_BUFFER_PTS(frame);
  GstMessage *message =
      gst_message_new_qos(GST_OBJECT(element), live_, to_running_time(element->segment, pts),
                          to_stream_time(element->segment, pts), pts, GST_BUFFER_DURATION(frame));
  gst_message_set_qos_values(message, std::max<GstClockTimeDiff>(lateness(element, frame), 0), 1, 1000000);
  gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, in_time_, ++late_);
  gst_element_post_message(GST_ELEMENT(element), message);
}

GstClockTimeDiff PromisedLatency::lateness(GstBaseTransform *element, GstBuffer *frame) const {
  const GstClockTime running_time = to_running_time(element->segment, GST_BUFFER_PTS(frame));
  const GstClockTime now = gst_element_get_current_running_time(GST_ELEMENT(element));
  if (!GST_CLOCK_TIME_IS_VALID(running_time) || !GST_CLOCK_TIME_IS_VALID(now)) return G_MININT64 / 2;
  return GST_CLOCK_DIFF(running_time, now) + static_cast<GstClockTimeDiff>(typical()) - latest();
}

GstClockTimeDiff PromisedLatency::latest() const {
  const auto promised = static_cast<GstClockTimeDiff>(before_ + promised_ + held_);
  const auto behind = static_cast<GstClockTimeDiff>(behind_),
             of_pipeline = static_cast<GstClockTimeDiff>(of_pipeline_);
  const auto slack = std::clamp<GstClockTimeDiff>(of_pipeline - promised - behind, 0, kMostSlack);
  return std::max<GstClockTimeDiff>(promised + slack, shown_ - behind);
}

GstClockTime PromisedLatency::longest_hold() const {
  return std::max<GstClockTime>(of_pipeline_, std::max<GstClockTimeDiff>(shown_, 0));
}

void PromisedLatency::forget_sink() {
  shown_ = 0;
  behind_ = 0;
}

// GStreamer's sinks send the event when they have shown the frame, in the thread that waited for this. A sink that does not
// wait says 0 each time.
void PromisedLatency::take_qos(GstElement *element, GstEvent *event) {
  GstQOSType type{};
  GstClockTimeDiff late_by = 0;
  GstClockTime running_time = GST_CLOCK_TIME_NONE;
  gst_event_parse_qos(event, &type, nullptr, &late_by, &running_time);
  const GstClockTime now = gst_element_get_current_running_time(element);
  if (type == GST_QOS_TYPE_THROTTLE || !GST_CLOCK_TIME_IS_VALID(running_time) ||
      !GST_CLOCK_TIME_IS_VALID(now))
    return;
  const GstClockTimeDiff age = GST_CLOCK_DIFF(running_time, now);
  if (late_by < 0)
    shown_ = age;  // with the time that the sink took to show it, which may have been long once
  else if (late_by > 0)
    shown_ = std::min<GstClockTimeDiff>(shown_, age - late_by);
}

void PromisedLatency::tell_promise(GstBaseTransform *element) const {
  const GstClockTime promise = promised_ + held_ + behind_;
  if (!live_ || promise == 0) return;
  GstStructure *told = gst_structure_new(kPromiseEvent, "latency", G_TYPE_UINT64, promise, nullptr);
  gst_pad_push_event(GST_BASE_TRANSFORM_SINK_PAD(element),
                     gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, told));
}

// There may be several branches: the slowest counts.
bool PromisedLatency::take_promise(GstEvent *event) {
  guint64 promise = 0;
  if (GST_EVENT_TYPE(event) != GST_EVENT_CUSTOM_UPSTREAM || !gst_event_has_name(event, kPromiseEvent))
    return false;
  if (gst_structure_get_uint64(gst_event_get_structure(event), "latency", &promise) &&
      promise <= kMostOfAll && promise > behind_)
    behind_ = promise;
  return true;
}

void PromisedLatency::take_event(GstEvent *event) {
  GstClockTime latency = 0;
  gst_event_parse_latency(event, &latency);
  of_pipeline_ = latency;
}

}  // namespace cudavision
