// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversions of timestamps, the latency that an element promises, and frames that reach the sink late.
#pragma once

#include <gst/gst.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <string>

namespace cudavision {

// The duration of a frame at rate_n / rate_d frames per second; 0 if there is no frame rate.
inline GstClockTime frame_duration(gint rate_n, gint rate_d) {
  return rate_n > 0 && rate_d > 0 ? gst_util_uint64_scale_int(GST_SECOND, rate_d, rate_n) : 0;
}

// Convert a buffer's timestamp with the segment. Return GST_CLOCK_TIME_NONE for a segment in bytes, which appsrc makes
// by default, and for a frame without a timestamp.
GstClockTime to_stream_time(const GstSegment &segment, GstClockTime pts);
GstClockTime to_running_time(const GstSegment &segment, GstClockTime pts);

// Whether a stream-start event that has arrived at this pad begins another stream than that of the frames before, as
// behind concat and input-selector. To be asked while the event is handled: then the pad still keeps the event before.
bool begins_another_stream(GstPad *sink, GstEvent *stream_start);

// The latency that an element promises in a live pipeline: its share of the answer to a latency query. A sink shows
// frames later by the sum of all shares, and regards only those as late that arrive after that. The promise follows the
// time that frames take, and only rises between start and stop: each change makes the sinks wait for another time.
class PromisedLatency {
 public:
  // Called when the element starts, before the first frame.
  void restart();
  // Called before the work on a frame that has arrived at `sink`. Returns true if the host must wait for the GPU's work
  // on this frame, because its time is wanted: in a live pipeline for the first frames, then for one of kFrames.
  bool begin_frame(GstPad *sink);
  // Takes the time from the arrival of a frame until all work on it was finished. frame_duration: by the caps, or 0.
  // Returns true if the streaming thread must post a latency message: the promise rises in a live pipeline.
  bool take(GstClockTime processing_time, GstClockTime frame_duration);
  // Sets the time for which the element holds frames back, which is promised in addition. Returns true like take().
  bool hold(GstClockTime time) { return hold_time_.exchange(time) != time && live_; }
  // Adds the promise to a latency query that the elements before have answered. Called from any thread.
  void add_to(GstQuery *latency);

 private:
  static constexpr std::size_t kFrames = 32;

  std::atomic<bool> live_ = false;
  std::atomic<GstClockTime> promised_ = 0, hold_time_ = 0;
  std::array<GstClockTime, 8> times_{};  // the processing times of the last frames, in a ring
  std::size_t taken_ = 0, frames_ = 0;   // how often take() and begin_frame() were called
};

// Finds out from the sink's QoS events that a pipeline does not keep up. Thread-safe.
class Punctuality {
 public:
  static constexpr GstClockTime kPatience = 5 * GST_SECOND, kLeastLateness = 20 * GST_MSECOND;

  // Takes the running time of a frame and by how much it was late at the sink. Returns true once for every series of
  // frames that lasts more than kPatience and in which each is late by more than its duration and kLeastLateness:
  // although the base class skips late frames, the pipeline asks for more than the machine can do.
  bool is_hopeless(GstClockTime time, GstClockTimeDiff lateness, GstClockTime frame_duration);
  void restart() { late_since_ = GST_CLOCK_TIME_NONE; }

 private:
  static constexpr GstClockTime kTold = GST_CLOCK_TIME_NONE - 1;
  // The running time of the first frame of the series; kTold when is_hopeless() has returned true for it.
  std::atomic<GstClockTime> late_since_ = GST_CLOCK_TIME_NONE;
};

// The warning of a pipeline that does not keep up. lateness: of the last frame. processing_time: of the element for a
// frame. faster: ElementText::faster (element.h).
std::string warning_of_lateness(GstClockTimeDiff lateness, GstClockTime processing_time, const char *faster);

}  // namespace cudavision
