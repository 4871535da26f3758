// SPDX-License-Identifier: LGPL-2.1-or-later
// The times of a stream: conversions of timestamps, gaps between frames, and frames that reach the sink late.
#pragma once

#include <gst/gst.h>

#include <mutex>
#include <optional>

namespace cudavision {

// Converts a timestamp by the segment. Return GST_CLOCK_TIME_NONE for a segment in bytes, which appsrc makes
// by default, and for a frame without a timestamp.
GstClockTime to_stream_time(const GstSegment &segment, GstClockTime pts);
GstClockTime to_running_time(const GstSegment &segment, GstClockTime pts);

// Decides which frames continue what the frames before them have shown.
class Continuity {
 public:
  // Call it with every frame that arrives. Returns false if the frame is a discontinuity and its timestamp
  // does not follow the last one within a second. GStreamer also marks frames as discontinuities whose
  // predecessors an element has skipped because they were late; those continue the video.
  bool continues(GstBuffer *frame);
  void restart() { last_pts_ = GST_CLOCK_TIME_NONE; }

 private:
  GstClockTime last_pts_ = GST_CLOCK_TIME_NONE;
};

// Finds out from the sink's QoS events that a pipeline does not keep up. Safe to call from several threads.
class Punctuality {
 public:
  static constexpr GstClockTime kPatience = 5 * GST_SECOND, kLeastLateness = 20 * GST_MSECOND;

  // frame_duration: by the caps, or 0 if their frame rate is variable.
  void restart(GstClockTime frame_duration);
  // Takes a QoS event, which may come from any thread. Returns how late the last frame was, once for every
  // series of frames of more than kPatience that were all late by more than a frame and kLeastLateness.
  std::optional<GstClockTimeDiff> too_late(GstEvent *qos);

 private:
  std::mutex mutex_;
  GstClockTime frame_duration_ = 0;
  GstClockTime late_since_ = GST_CLOCK_TIME_NONE;  // the running time of the first frame of the series
  bool told_ = false;                              // of this series
};

}  // namespace cudavision
