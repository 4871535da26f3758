// SPDX-License-Identifier: LGPL-2.1-or-later
// The latency that an element promises in a live pipeline.
#include "gst/base/element/promised_latency.h"

#include <algorithm>
#include <functional>
#include <memory>

namespace cudavision {
namespace {

constexpr GstClockTime kLeast = GST_MSECOND;  // a shorter processing time is not promised
constexpr GstClockTime kMost = 10 * GST_SECOND;

bool is_live_before(GstPad *sink) {
  const std::unique_ptr<GstQuery, decltype(&gst_query_unref)> query(gst_query_new_latency(), gst_query_unref);
  gboolean live = FALSE;
  if (gst_pad_peer_query(sink, query.get())) gst_query_parse_latency(query.get(), &live, nullptr, nullptr);
  return live != FALSE;
}

}  // namespace

void PromisedLatency::restart() {
  live_ = is_told_ = false;
  promised_ = hold_time_ = 0;
  frame_duration_ = 0;
  count_ = frames_ = 0;
}

// An element that is put into a playing pipeline has not seen a latency query: it asks the elements before it.
bool PromisedLatency::begin_frame(GstPad *sink) {
  if (frames_ == 0) live_ = is_live_before(sink);
  const bool is_chosen = count_ < times_.size() || frames_ % kFrames == 0;
  ++frames_;
  return live_ && is_chosen;
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

// A quarter more than frames take, because some take longer than most. An element that takes longer than a frame lasts
// gets frames that have waited for it in a queue, for up to a frame duration.
bool PromisedLatency::take(GstClockTime processing_time) {
  times_[count_++ % times_.size()] = processing_time;
  const GstClockTime time = typical();
  GstClockTime wanted = time + time / 4;
  if (frame_duration_ > 0 && wanted >= frame_duration_) wanted += frame_duration_;
  wanted = std::min(wanted, kMost);
  const bool rises = time >= kLeast && wanted > promised_ + promised_ / 16;
  if (rises) promised_ = wanted;
  const bool is_new = !is_told_.exchange(true) && hold_time_ > 0;
  return live_ && (rises || is_new);
}

bool PromisedLatency::hold(GstClockTime time) { return hold_time_.exchange(time) != time && live_; }

void PromisedLatency::add_to(GstQuery *latency) {
  gboolean live = FALSE;
  GstClockTime least = 0, most = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(latency, &live, &least, &most);
  live_ = live != FALSE;
  is_told_ = true;
  const GstClockTime own = promised_ + hold_time_;
  gst_query_set_latency(latency, live, least + own, GST_CLOCK_TIME_IS_VALID(most) ? most + own : most);
}

}  // namespace cudavision
