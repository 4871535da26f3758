// SPDX-License-Identifier: LGPL-2.1-or-later
// The latency that an element promises in a live pipeline: the time that it takes for a frame. Sinks add the promises
// of all elements, and a frame is late only if it arrives later than promised.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace cudavision {

class PromisedLatency {
 public:
  // Called at start.
  void restart();
  // Takes the time that the element took for a frame. Returns true if this raises the promise to a live sink, which a
  // latency message must then tell. frame_distance: the distance of the stream's frames, or 0 if it is unknown.
  // every_nth: the element works on one of so many frames, and lets the others pass.
  // Called by the streaming thread.
  bool take(GstClockTime processing_time, GstClockTime frame_distance, int every_nth = 1);
  // Whether the element, in a live pipeline, has taken longer than the distance of two frames. Called by the streaming thread.
  bool is_behind() const { return live_ && is_behind_; }
  // The element holds frames back for so long. Returns true if a latency message must tell that it is more, or much less.
  bool hold(GstClockTime time);
  // Adds the promise to the answer of the element before this one. Called from any thread.
  void add_to(GstQuery *latency);
  // Takes the event that tells the latency of the whole pipeline. Called from any thread.
  void take_event(GstEvent *event);
  // Takes the event by which a sink tells how early or late a frame came. Called from any thread.
  void take_qos(GstElement *element, GstEvent *event);
  // Tells the elements of this kind before this one, by an event, what it and those behind it promise. Called from any thread.
  void tell_promise(GstBaseTransform *element) const;
  // Takes such an event; returns false if it is another one. Called from any thread.
  bool take_promise(GstEvent *event);
  // There may be other elements behind this one.
  void forget_sink();
  // Whether a frame of a live stream is to be dropped, because the element takes longer than the distance of two frames, and
  // this one would leave it later than promised. GStreamer drops frames only after the sink has dropped one for which all
  // the work was done, so that every second result would be lost. Drops no more frames in a row than those of the time
  // since the work on the last one began. Posts a QoS message for a frame to drop, and tells the promise again.
  // Called by the streaming thread, for a sink that tells when frames arrive.
  bool drops(GstBaseTransform *element, GstBuffer *frame);
  // Posts a QoS message for a frame that is dropped. Called by the streaming thread.
  void tell_of_dropped(GstBaseTransform *element, GstBuffer *frame);
  // How long a sink may hold a frame.
  GstClockTime longest_hold() const;

 private:
  // How much too late a frame would leave the element if the work on it began now; negative if it is in time, or no time is known.
  GstClockTimeDiff lateness(GstBaseTransform *element, GstBuffer *frame) const;
  // How long after its running time a frame may leave the element. A sink shows a frame when the latency of the whole pipeline
  // has passed, which another branch may have made long. Without a queue in front of it, it holds the streaming thread
  // for so long, and most frames reach the element late. Of what is left when the sink shows a frame, the elements behind
  // need what they promise. Before the sink has told this, a part of the time is assumed that it allows for itself, which
  // it hardly needs.
  GstClockTimeDiff latest() const;
  GstClockTime typical() const;

  std::atomic<bool> live_ = false;
  std::atomic<GstClockTime> before_ = 0;  // what the elements before this one promise
  std::atomic<GstClockTime> promised_ = 0, held_ = 0;
  std::atomic<GstClockTime> behind_ = 0;  // what elements of this kind behind this one promise
  std::atomic<GstClockTime> of_pipeline_ = 0;
  std::atomic<GstClockTimeDiff> shown_ = 0;  // how long after its running time the sink shows a frame
  GstClockTime allowed_ = 0;                 // the part of the promise that is for a frame
  GstClockTime frame_distance_ = 0;          // 0: frames are not dropped
  bool is_behind_ = false;
  std::array<GstClockTime, 8> times_{};  // of the last frames, in a ring
  std::size_t count_ = 0;
  guint64 in_time_ = 0, late_ = 0;  // frames
  GstClockTime last_begin_ = 0;     // of the work on a frame
  GstClockTime last_taken_ = 0;     // the running time of this frame
  GstClockTime busy_ = 0;           // how long the element was not ready for another one
  bool is_dropping_ = false;
};

}  // namespace cudavision
