// SPDX-License-Identifier: LGPL-2.1-or-later
// The latency that an element promises in a live pipeline, in its answer to a latency query: the time that it takes for
// a frame. The query sums the promises of all elements; a sink regards only frames that arrive after that as late.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace cudavision {

class PromisedLatency {
 public:
  // Called when the element starts, before the first frame: forgets all promises and measurements.
  void restart();
  // Takes the time that the element took for a frame. Returns true if the promise changes in a live pipeline: the
  // caller must then post a latency message. It rises at once, and falls when many frames take less than half of it.
  // frame_distance: the time from one frame of the stream to the next, or 0 if it is unknown. every_nth: the element
  // works on every nth frame and passes the other frames on unprocessed. Called by the streaming thread.
  bool take(GstClockTime processing_time, GstClockTime frame_distance, int every_nth = 1);
  // Whether, in a live pipeline, a frame takes the element longer than frame_distance. Called by the streaming thread.
  bool is_behind() const { return live_ && is_behind_; }
  // Adds to the promise the time for which frames are held back. Returns true, like take(), if it changes: it rises at
  // once, and falls when 32 frames in succession were held for less than three quarters of it.
  bool hold(GstClockTime time);
  // Adds the promise to a latency query that the upstream elements have answered. Called from any thread.
  void add_to(GstQuery *latency);
  // Takes a latency event, which holds the latency of the whole pipeline. Called from any thread.
  void take_event(GstEvent *event);
  // Takes a QoS event, by which a sink reports how early or late a frame came. Called from any thread.
  void take_qos(GstElement *element, GstEvent *event);
  // Tells upstream elements of the same base class, by an event, the sum of what this element and those behind it
  // promise. Sends nothing if the pipeline is not live. Called from any thread.
  void tell_promise(GstBaseTransform *element) const;
  // Takes an event from tell_promise() of a downstream element; returns false for other events. Called from any thread.
  bool take_promise(GstEvent *event);
  // Called when the downstream elements may have changed: forgets what they have reported and promised.
  void forget_sink();
  // Whether to drop a frame of a live stream, because the element takes longer than the time from one frame to the next
  // and the frame would leave the element too late (latest()). The base class drops frames only after the sink has
  // dropped one for which all the work was done: every second result would be lost. The frames dropped in a row span at
  // most the time since the work on the last frame began. If true, posts a QoS message and calls tell_promise().
  // Called by the streaming thread, if the sink reports when frames arrive (Punctuality::sink_tells()).
  bool drops(GstBaseTransform *element, GstBuffer *frame);
  // Posts a QoS message for a frame that is dropped. Called by the streaming thread.
  void tell_of_dropped(GstBaseTransform *element, GstBuffer *frame);
  // How long a sink may hold a frame before it shows it.
  GstClockTime longest_hold() const;

 private:
  static constexpr GstClockTimeDiff kNotShown = G_MININT64;  // shown_ until a sink has sent a QoS event

  // How much too late a frame of this age would leave the element if work began now; negative if in time.
  GstClockTimeDiff lateness(GstClockTimeDiff age) const;
  // Returns how long after the running time of a frame the frame may leave the element. Until a sink has reported,
  // this is what the elements up to this one promise, plus at most kMostSlack of the pipeline's other latency: sinks
  // reserve that for themselves and hardly need it. Later, it is the time after which the sink shows a frame (shown_),
  // less the promise of the elements in between (behind_), but at least typical(): a frame of age 0 is never late.
  // Another branch of the pipeline may make shown_ long, and a ts-offset of the sink may make it short. If no queue is
  // before the sink, the sink blocks the streaming thread, and most frames reach this element late.
  GstClockTimeDiff latest() const;
  GstClockTime typical() const;  // the usual processing time of a frame; 0 if unknown

  std::atomic<bool> live_ = false;
  std::atomic<GstClockTime> before_ = 0;               // what the elements before this one promise
  std::atomic<GstClockTime> promised_ = 0, held_ = 0;  // what take() and hold() promise
  std::atomic<GstClockTime> behind_ = 0;       // what downstream elements of the same base class promise
  std::atomic<gint64> told_ = 0;               // when it was told, in microseconds
  std::atomic<GstClockTime> of_pipeline_ = 0;  // the latency of the whole pipeline, by the last latency event
  std::atomic<GstClockTime> reported_ = 0;  // the running time of the last report that was as early as shown_
  std::atomic<GstClockTimeDiff> shown_ = kNotShown;  // how long after its running time the sink shows a frame
  GstClockTime allowed_ = 0;  // promised for the work on a frame: typical() plus a quarter of it
  GstClockTime longest_ = 0;  // the maximum of typical() since count_ was last a multiple of kManyFrames
  GstClockTime longest_shorter_ = 0;  // the maximum of the last holds, if all were shorter than promised
  int shorter_ = 0;                   // how many these are
  GstClockTime frame_distance_ = 0;   // the time from one frame to the next; 0: frames are not dropped
  bool is_behind_ = false;
  std::array<GstClockTime, 8> times_{};  // the processing times of the last frames, in a ring
  std::size_t count_ = 0;                // how many frames were processed
  guint64 dropped_ = 0;                  // how many frames were dropped
  GstClockTime last_begin_ = 0;  // the running time when work began on the last frame that drops() let pass
  GstClockTime last_taken_ = 0;  // the running time of that frame
  GstClockTime busy_ = 0;        // the time from last_begin_ to the arrival of the next frame
  bool is_dropping_ = false;
};

}  // namespace cudavision
