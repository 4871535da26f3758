// SPDX-License-Identifier: LGPL-2.1-or-later
// The times of a stream: conversions of timestamps, gaps between frames, and frames that reach the sink late.
#pragma once

#include <gst/gst.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

namespace cudavision {

// 0 if there is no rate.
inline GstClockTime frame_duration(gint rate_n, gint rate_d) {
  return rate_n > 0 && rate_d > 0 ? gst_util_uint64_scale_int(GST_SECOND, rate_d, rate_n) : 0;
}

// Converts a timestamp by the segment. Return GST_CLOCK_TIME_NONE for a segment in bytes, which appsrc makes
// by default, and for a frame without a timestamp.
GstClockTime to_stream_time(const GstSegment &segment, GstClockTime pts);
GstClockTime to_running_time(const GstSegment &segment, GstClockTime pts);

// Tells when another video begins, as behind concat and input-selector.
class StreamId {
 public:
  // What to say when streams take turns.
  static constexpr char kTurns[] =
      "Frames of several streams take turns, as behind a funnel: all that is known of earlier frames is lost "
      "at each turn. Put one such element into each stream, before they come together";

  // event: a stream-start. Returns false if the video of before goes on.
  bool changes(GstEvent *event);
  // Call it with every frame.
  void take_frame() { ++frames_; }
  // True once, if two streams have taken turns of few frames again and again.
  bool take_turns();

 private:
  static constexpr guint64 kFewFrames = 25;
  static constexpr int kManyTurns = 8;
  using Text = std::unique_ptr<gchar, decltype(&g_free)>;  // of GLib: a copy cannot fail

  Text id_{nullptr, g_free}, before_{nullptr, g_free};
  guint64 frames_ = 0;  // of this stream since it began or came back
  int turns_ = 0;       // in which the stream before came back after few frames
  bool told_ = false;
};

// Decides which frames continue what the frames before them have shown.
class Continuity {
 public:
  // A gap of up to 2 s, or of kMostDistances times the distance of the stream's frames, is a gap in one video.
  static constexpr GstClockTime kLeastGap = 2 * GST_SECOND;
  static constexpr guint64 kMostDistances = 5;
  // Fewer distances do not contradict the caps: cameras often pause behind their first frame.
  static constexpr std::size_t kEnough = 5;

  // Call it with every frame that arrives. Returns false if the frame may belong to another time or video: if it is a
  // discontinuity or the first one of a segment, and its timestamp does not follow the last one closely in the
  // direction of the segment. GStreamer also marks frames as discontinuities whose predecessors were dropped, by a
  // leaky queue or because they were late; those continue the video.
  bool continues(GstBuffer *frame, const GstSegment &segment);
  // The next frame is the first one of a segment.
  void expect_jump() { jump_ = true; }
  // Call it for new caps. frame_duration: by the caps, or 0 if their frame rate is variable.
  void set_frame_duration(GstClockTime frame_duration) { frame_duration_ = frame_duration; }
  void restart() { *this = Continuity(frame_duration_); }
  // The median distance of the last frames' timestamps, or the frame duration of the caps, or 0 if neither is known.
  GstClockTime distance() const;
  // The same for an element that takes so long for a frame. Behind a leaky queue, frames reach it as far apart as it takes
  // long, which says nothing of the stream: unless they are much further apart, the caps know better.
  GstClockTime distance_before(GstClockTime processing_time) const;

  Continuity() = default;

 private:
  explicit Continuity(GstClockTime frame_duration) : frame_duration_(frame_duration) {}

  GstClockTime last_pts_ = GST_CLOCK_TIME_NONE, frame_duration_ = 0;
  bool jump_ = false, reverse_ = false;
  std::array<GstClockTime, 5> distances_{};  // of the last frames, in a ring
  std::size_t count_ = 0;
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
  // Whether a sink has told when frames arrive, since the start. A sink that shows frames as they come tells nothing.
  bool sink_tells() const { return sink_tells_; }
  void forget_sink() { sink_tells_ = false; }

 private:
  std::atomic<bool> sink_tells_ = false;
  std::mutex mutex_;
  GstClockTime frame_duration_ = 0;
  GstClockTime late_since_ = GST_CLOCK_TIME_NONE;  // the running time of the first frame of the series
  bool told_ = false;                              // of this series
};

}  // namespace cudavision
