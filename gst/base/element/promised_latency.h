// SPDX-License-Identifier: LGPL-2.1-or-later
// The latency that an element promises in a live pipeline: the time that it takes for a frame. Sinks add the promises
// of all elements, and a frame is late only if it arrives later than promised.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

namespace cudavision {

class PromisedLatency {
 public:
  // Called at start.
  void restart();
  // Takes the time that the element took for a frame. Returns true if this raises the promise to a live sink, which a
  // latency message must then tell. frame_distance: the distance of the stream's frames, or 0 if it is unknown.
  // Called by the streaming thread.
  bool take(GstClockTime processing_time, GstClockTime frame_distance);
  // Whether the element, in a live pipeline, takes longer than the distance of two frames. Called by the streaming thread.
  bool is_behind() const { return live_ && is_behind_; }
  // The element holds frames back for so long. Returns true if a latency message must tell that it is more, or much less.
  bool hold(GstClockTime time);
  // Adds the promise to the answer of the element before this one. Called from any thread.
  void add_to(GstQuery *latency);
  // Takes the event that tells the latency of the whole pipeline. Called from any thread.
  void take_event(GstEvent *event);
  // Takes the event by which a sink tells how early or late a frame came. Called from any thread.
  void take_qos(GstBaseTransform *element, GstEvent *event);
  // Takes an event, which tells of a frame that an element behind has dropped if it is one of this kind. Called from any thread.
  void take_drop(GstBaseTransform *element, GstEvent *event);
  // Another sink may come, or running times begin anew.
  void forget_sink();
  void forget_frames();
  // Whether a frame of a live stream is to be dropped, because it would leave the element later than promised.
  // GStreamer drops frames only after the sink has dropped one for which all the work was done, so that every second
  // result would be lost. If the clock says so of all frames, one a second is worked on nevertheless, as sinks do.
  // Posts a QoS message for a frame to drop. Called by the streaming thread, for a sink that tells when frames arrive.
  bool drops(GstBaseTransform *element, GstBuffer *frame);
  // Posts a QoS message for a frame that is dropped, and tells the elements before. Called by the streaming thread.
  void tell_of_dropped(GstBaseTransform *element, GstBuffer *frame);
  // A frame is ready to leave. Called by the streaming thread.
  void leave(GstBaseTransform *element, GstBuffer *frame);
  // How long a sink may hold a frame.
  GstClockTime longest_hold() const;

 private:
  GstClockTimeDiff until_here() const { return static_cast<GstClockTimeDiff>(before_ + promised_ + held_); }
  // How late a frame is that would leave the element now, by the promises up to here; negative if it is early or no time is known.
  GstClockTimeDiff age(GstBaseTransform *element, GstBuffer *frame) const;
  // A sink shows a frame when the latency of the whole pipeline has passed, which another branch may have made long. Without
  // a queue in front of it, it holds the streaming thread for so long, and most frames reach the element late. How late
  // one may leave it is known from when the sink shows a frame that came early, and from how late one came for which
  // nothing had waited. Before, a part of the time is assumed that the sink allows for itself, which hardly needs it.
  GstClockTimeDiff slack() const;
  // A frame of that running time came so late to the sink, or to an element behind; early if it is negative.
  void learn(GstBaseTransform *element, GstClockTime running_time, GstClockTimeDiff late_by);
  GstClockTimeDiff lateness(GstBaseTransform *element, GstBuffer *frame) const {
    return age(element, frame) + static_cast<GstClockTimeDiff>(typical()) - slack();
  }
  GstClockTime typical() const;

  std::atomic<bool> live_ = false;
  std::atomic<GstClockTime> before_ = 0, promised_ = 0,
                            held_ = 0;  // before_: what the elements before this one promise
  std::atomic<GstClockTime> of_pipeline_ = 0;
  struct Left {
    GstClockTime running_time = GST_CLOCK_TIME_NONE;
    GstClockTimeDiff age = 0;
  };
  mutable std::mutex mutex_;      // protects the following
  GstClockTimeDiff shown_ = 0;    // age of an early frame when the sink shows it
  GstClockTimeDiff transit_ = 0;  // what the elements in between take
  bool knows_shown_ = false;
  GstClockTime last_late_ = GST_CLOCK_TIME_NONE;  // when a frame came late, in running time
  std::array<Left, 256> left_{};                  // the last frames, in a ring
  std::size_t left_count_ = 0;
  GstClockTime allowed_ = 0;  // the part of the promise that is for a frame
  bool is_behind_ = false;
  std::array<GstClockTime, 8> times_{};  // of the last frames, in a ring
  std::size_t count_ = 0;
  guint64 in_time_ = 0, late_ = 0;  // frames
  GstClockTime last_begin_ = 0;     // of the work on a frame
};

}  // namespace cudavision
