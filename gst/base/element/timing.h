// SPDX-License-Identifier: LGPL-2.1-or-later
// The times of a stream: conversions of timestamps, gaps between frames, and frames that reach the sink late.
#pragma once

#include <gst/gst.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

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

// Measures the time from one frame of a stream to the next.
class FrameDistance {
 public:
  // A gap of less than 2 s, or of less than kMostDistances times the distance, may be one of frames that follow.
  static constexpr GstClockTime kLeastGap = 2 * GST_SECOND;
  static constexpr guint64 kMostDistances = 5;
  // With fewer measured distances, get() uses the rate of the caps: cameras often pause after the first frame.
  static constexpr std::size_t kEnough = 5;

  // Call it with every frame that arrives.
  void take(GstBuffer *frame);
  // Call it for new caps. frame_duration: by the caps, or 0 if their frame rate is variable.
  void set_frame_duration(GstClockTime frame_duration);
  void restart() { *this = FrameDistance(frame_duration_); }
  // The mean for the last frames, or the frame duration of the caps, or 0 if neither is known. A mean, because frames
  // may come in bursts, for which a median is wrong. A single pause that is longer than all other distances together
  // does not count.
  GstClockTime get() const;
  // get() for an element that takes processing_time for a frame. Behind a leaky queue, a slow element gets frames at
  // the distance of its own processing time, which says nothing about the stream: unless the distance is much greater,
  // it is limited to the frame duration of the caps.
  GstClockTime before(GstClockTime processing_time) const;
  // How long it takes until so many more frames arrive, if they come as the last ones did.
  GstClockTime of_frames(std::size_t frames) const;
  // A greater gap ends a video.
  GstClockTime greatest_gap() const { return std::max(kLeastGap, kMostDistances * get()); }

  FrameDistance() = default;

 private:
  explicit FrameDistance(GstClockTime frame_duration) : frame_duration_(frame_duration) {}

  using Ring = std::array<GstClockTime, 32>;
  GstClockTime mean_distance() const;
  GstClockTime usual_gap(std::size_t frames) const;

  GstClockTime last_pts_ = GST_CLOCK_TIME_NONE, frame_duration_ = 0;
  Ring gaps_{};       // between the last timestamps
  Ring distances_{};  // the same, but at a discontinuity those of the stream, of which frames are missing
  std::size_t count_ = 0;  // how many gaps were written
};

// Decides whether a frame continues the video that the frames before it have shown.
class Continuity {
 public:
  // Call it with every frame that is processed. greatest_gap: FrameDistance::greatest_gap(). Returns false if the frame
  // may belong to another time or video: it is a discontinuity or the first frame of a segment, and its timestamp does
  // not follow the last one closely in the direction of the segment. GStreamer also marks a frame as a discontinuity if
  // a leaky queue dropped frames before it, or if they were dropped because they were late; such a frame continues the
  // video.
  bool continues(GstBuffer *frame, const GstSegment &segment, GstClockTime greatest_gap);
  // Call it for a segment event: the next frame is the first one of a segment.
  void expect_jump() { jump_ = true; }
  void restart() { *this = Continuity(); }

 private:
  GstClockTime last_pts_ = GST_CLOCK_TIME_NONE;
  bool jump_ = false, reverse_ = false;
};

// Finds out from the sink's QoS events that a pipeline does not keep up. Thread-safe.
class Punctuality {
 public:
  static constexpr GstClockTime kPatience = 5 * GST_SECOND, kLeastLateness = 20 * GST_MSECOND;

  // frame_duration: by the caps, or 0 if their frame rate is variable.
  void restart(GstClockTime frame_duration);
  // Takes a QoS event, which may come from any thread. Returns how late the last frame was, once for every series of
  // frames that lasts more than kPatience and in which each is late by more than the frame duration and kLeastLateness.
  std::optional<GstClockTimeDiff> too_late(GstEvent *qos);
  // Whether a sink has reported how late frames arrive, since the start. A sink that does not wait for the clock
  // reports 0 each time, which does not count.
  bool sink_tells() const { return sink_tells_; }
  void forget_sink() { sink_tells_ = false; }

 private:
  std::atomic<bool> sink_tells_ = false;
  std::mutex mutex_;
  GstClockTime frame_duration_ = 0;
  GstClockTime late_since_ = GST_CLOCK_TIME_NONE;  // the running time of the first frame of the series
  bool told_ = false;                              // too_late() has reported this series
};

}  // namespace cudavision
