// SPDX-License-Identifier: LGPL-2.1-or-later
// The latency that an element promises in a live pipeline.
#include "gst/base/element/promised_latency.h"

#include <algorithm>
#include <functional>

#include "gst/base/element/timing.h"

namespace cudavision {
namespace {

constexpr GstClockTime kLeast = GST_MSECOND;  // what takes less is not worth a promise
constexpr GstClockTime kMost = 10 * GST_SECOND, kMostHeld = 60 * GST_SECOND;
constexpr GstClockTime kLateIsRecent = 3 * GST_SECOND;
constexpr gint64 kLongestLateness = 3600 * GST_SECOND;
constexpr const char *kDropEvent = "GstCudaVisionDroppedFrame";
constexpr GstClockTime kMostSlack =
    20 * GST_MSECOND;  // what sinks allow by default, their processing-deadline

}  // namespace

void PromisedLatency::restart() {
  live_ = false;
  before_ = promised_ = held_ = of_pipeline_ = 0;
  allowed_ = last_begin_ = 0;
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
bool PromisedLatency::take(GstClockTime processing_time, GstClockTime frame_distance) {
  times_[count_++ % times_.size()] = processing_time;
  const GstClockTime time = typical();
  const bool is_longer = time >= kLeast && time > allowed_;
  if (is_longer) allowed_ = time + time / 4;
  is_behind_ = frame_distance > 0 && allowed_ >= frame_distance;
  if (!is_longer) return false;
  promised_ = std::min(kMost, allowed_ + (is_behind_ ? frame_distance : 0));
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

bool PromisedLatency::drops(GstBaseTransform *element, GstBuffer *frame) {
  if (!live_ || promised_ == 0 || !gst_base_transform_is_qos_enabled(element)) return false;
  const GstClockTime begin = gst_util_get_timestamp();
  if (lateness(element, frame) <= 0 || begin - last_begin_ > GST_SECOND + 2 * typical()) {
    last_begin_ = begin;
    ++in_time_;
    return false;
  }
  tell_of_dropped(element, frame);
  return true;
}

void PromisedLatency::tell_of_dropped(GstBaseTransform *element, GstBuffer *frame) {
  const GstClockTime pts = GST_BUFFER_PTS(frame);
  const gint64 late_by = std::max<GstClockTimeDiff>(lateness(element, frame), 0);
  GstMessage *message =
      gst_message_new_qos(GST_OBJECT(element), live_, to_running_time(element->segment, pts),
                          to_stream_time(element->segment, pts), pts, GST_BUFFER_DURATION(frame));
  gst_message_set_qos_values(message, late_by, 1, 1000000);
  gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, in_time_, ++late_);
  gst_element_post_message(GST_ELEMENT(element), message);
  GstStructure *drop =
      gst_structure_new(kDropEvent, "running-time", G_TYPE_UINT64, to_running_time(element->segment, pts),
                        "lateness", G_TYPE_INT64, late_by, nullptr);
  gst_pad_push_event(GST_BASE_TRANSFORM_SINK_PAD(element),
                     gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, drop));
}

GstClockTimeDiff PromisedLatency::age(GstBaseTransform *element, GstBuffer *frame) const {
  const GstClockTime running_time = to_running_time(element->segment, GST_BUFFER_PTS(frame));
  const GstClockTime now = gst_element_get_current_running_time(GST_ELEMENT(element));
  if (!GST_CLOCK_TIME_IS_VALID(running_time) || !GST_CLOCK_TIME_IS_VALID(now)) return G_MININT64 / 2;
  return GST_CLOCK_DIFF(running_time, now) - until_here();
}

GstClockTimeDiff PromisedLatency::slack() const {
  const auto most = static_cast<GstClockTimeDiff>(kMostSlack),
             room = static_cast<GstClockTimeDiff>(of_pipeline_) - until_here();
  const std::lock_guard lock(mutex_);
  return std::max(std::clamp<GstClockTimeDiff>(room, 0, most), shown_ - transit_);
}

GstClockTime PromisedLatency::longest_hold() const {
  const std::lock_guard lock(mutex_);
  const GstClockTimeDiff known = std::max<GstClockTimeDiff>(until_here() + shown_, 0);
  return std::max<GstClockTime>(of_pipeline_, static_cast<GstClockTime>(known));
}

void PromisedLatency::forget_frames() {
  const std::lock_guard lock(mutex_);
  left_ = {};
  last_late_ = GST_CLOCK_TIME_NONE;
}

void PromisedLatency::forget_sink() {
  const std::lock_guard lock(mutex_);
  left_ = {};
  shown_ = transit_ = 0;
  knows_shown_ = false;
  last_late_ = GST_CLOCK_TIME_NONE;
}

void PromisedLatency::leave(GstBaseTransform *element, GstBuffer *frame) {
  if (!live_) return;
  const Left left{to_running_time(element->segment, GST_BUFFER_PTS(frame)), age(element, frame)};
  const std::lock_guard lock(mutex_);
  left_[left_count_++ % left_.size()] = left;
}

// GStreamer's sinks send the event when they have shown the frame, in the thread that waited for this.
void PromisedLatency::take_qos(GstBaseTransform *element, GstEvent *event) {
  GstQOSType type{};
  GstClockTimeDiff late_by = 0;
  GstClockTime running_time = GST_CLOCK_TIME_NONE;
  gst_event_parse_qos(event, &type, nullptr, &late_by, &running_time);
  // A sink that does not wait says 0 each time.
  if (type != GST_QOS_TYPE_THROTTLE && late_by != 0) learn(element, running_time, late_by);
}

void PromisedLatency::take_drop(GstBaseTransform *element, GstEvent *event) {
  guint64 running_time = 0;
  gint64 late_by = 0;
  if (GST_EVENT_TYPE(event) != GST_EVENT_CUSTOM_UPSTREAM || !gst_event_has_name(event, kDropEvent) ||
      !gst_structure_get(gst_event_get_structure(event), "running-time", G_TYPE_UINT64, &running_time,
                         "lateness", G_TYPE_INT64, &late_by, nullptr))
    return;
  if (late_by > 0 && late_by < kLongestLateness) learn(element, running_time, late_by);
}

void PromisedLatency::learn(GstBaseTransform *element, GstClockTime running_time, GstClockTimeDiff late_by) {
  const GstClockTime now = gst_element_get_current_running_time(GST_ELEMENT(element));
  if (!GST_CLOCK_TIME_IS_VALID(running_time) || !GST_CLOCK_TIME_IS_VALID(now)) return;
  const std::lock_guard lock(mutex_);
  const bool was_late = GST_CLOCK_TIME_IS_VALID(last_late_) && now < last_late_ + kLateIsRecent;
  if (late_by > 0) last_late_ = now;
  if (late_by < 0) shown_ = GST_CLOCK_DIFF(running_time, now) - until_here(), knows_shown_ = true;
  // Of a frame that came early, a part of this is the time for which it waited behind others.
  GstClockTimeDiff transit = late_by > 0 ? shown_ : transit_;  // nobody knows when the frame left
  for (std::size_t i = 1; i <= std::min(left_count_, left_.size()); ++i) {
    const Left &left = left_[(left_count_ - i) % left_.size()];
    if (left.running_time != running_time || left.age < G_MININT64 / 4) continue;
    const GstClockTimeDiff in_time = left.age - late_by;
    if (!knows_shown_) shown_ = in_time;
    transit = std::max<GstClockTimeDiff>(shown_ - in_time, 0);
    break;
  }
  // Elements behind need different times, and there may be several sinks: the slowest counts for a while.
  if (late_by > 0)
    transit_ = std::max(transit, was_late ? transit_ - transit_ / 8 : 0);
  else if (!was_late)
    transit_ = std::min(transit_, transit);
}

void PromisedLatency::take_event(GstEvent *event) {
  GstClockTime latency = 0;
  gst_event_parse_latency(event, &latency);
  of_pipeline_ = latency;
}

}  // namespace cudavision
