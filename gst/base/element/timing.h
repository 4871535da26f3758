// SPDX-License-Identifier: LGPL-2.1-or-later
// The times of a stream: conversions of timestamps, streams that take turns, and frames that reach the sink late.
#pragma once

#include <gst/gst.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
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

// Notices when another video begins on a pad, as it does behind concat and input-selector.
class StreamId {
 public:
  // The warning for the user when take_turns() returns true.
  static constexpr char kTurns[] =
      "Frames of several streams take turns, as behind a funnel: all that is known of earlier frames is lost "
      "at each turn. Put one such element into each stream, before they come together";

  // Takes a stream-start event. Returns false if the same stream goes on.
  bool changes(GstEvent *event);
  // Call it with every frame.
  void take_frame() { ++frames_; }
  // Returns true once, after two streams have alternated kManyTurns times with fewer than kFewFrames frames each time.
  bool take_turns();

 private:
  static constexpr guint64 kFewFrames = 25;
  static constexpr int kManyTurns = 8;
  using Text = std::unique_ptr<gchar, decltype(&g_free)>;  // memory of GLib: g_strdup() never throws

  Text id_{nullptr, g_free}, before_{nullptr, g_free};  // the ids of this stream and of the previous one
  guint64 frames_ = 0;                                  // of this stream since it began or came back
  int turns_ = 0;  // successive changes back to the previous stream, each after fewer than kFewFrames frames
  bool told_ = false;  // take_turns() has returned true
};

// Finds out from the sink's QoS events that a pipeline does not keep up. Thread-safe.
class Punctuality {
 public:
  static constexpr GstClockTime kPatience = 5 * GST_SECOND, kLeastLateness = 20 * GST_MSECOND;

  // frame_duration: by the caps, or 0 if their frame rate is variable.
  void restart(GstClockTime frame_duration);
  // Takes a QoS event, which may come from any thread. Returns a warning for the user, once for every series of frames
  // that lasts more than kPatience and in which each is late by more than the frame duration and kLeastLateness;
  // otherwise an empty string. The base class skips late frames. A frame that is worked on and still arrives too late,
  // again and again, is worth a warning: the pipeline asks for more than the machine can do. processing_time: of the
  // element for a frame. faster: ElementText::faster (element.h).
  std::string take(GstEvent *qos, GstClockTime processing_time, const char *faster);

 private:
  std::optional<GstClockTimeDiff> too_late(GstEvent *qos);

  std::mutex mutex_;
  GstClockTime frame_duration_ = 0;
  GstClockTime late_since_ = GST_CLOCK_TIME_NONE;  // the running time of the first frame of the series
  bool told_ = false;                              // take() has reported this series
};

}  // namespace cudavision
