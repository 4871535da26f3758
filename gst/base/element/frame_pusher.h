// SPDX-License-Identifier: LGPL-2.1-or-later
// Brings frames to the sink on a thread of its own. A sink that waits for the clock holds the thread that brings it a frame, so
// that an element that takes longer than the distance of two frames would lose this time.
#pragma once

#include <gst/gst.h>

#include <condition_variable>
#include <mutex>

namespace cudavision {

// Whoever holds the stream lock of the element's sink pad calls the functions, with the exception of interrupt().
class FramePusher {
 public:
  FramePusher() = default;
  FramePusher(const FramePusher &) = delete;
  FramePusher &operator=(const FramePusher &) = delete;
  ~FramePusher();

  // Starts the thread if there is none. Returns false if the system gives none.
  bool begin(GstPad *source);
  // Waits until the frame before this one has left, but not for long, and lets the thread push this one, which it takes. If the frame before could
  // not be pushed, and this one could not either, returns why, and drops this one.
  GstFlowReturn push(GstBuffer *frame);
  // Waits until nothing is pushed, unless the thread itself calls it.
  void wait();
  // Returns what became of the last frame, once.
  GstFlowReturn take_result();
  // The frames that wait are dropped, and nobody waits any more, until resume(). What becomes of a frame that was given before
  // resume() is not told.
  void interrupt();
  void resume();
  // Waits for the thread, and ends it.
  void end();
  // Frames before the next one were dropped.
  void note_gap() { follows_gap_ = true; }
  void forget_gap() { follows_gap_ = false; }

 private:
  static gpointer run(gpointer self);
  void push_frames();
  bool is_idle() { return g_queue_is_empty(&frames_) && !is_pushing_; }
  void drop_frames() {
    g_queue_clear_full(&frames_, [](gpointer frame) { gst_buffer_unref(GST_BUFFER(frame)); });
  }

  GThread *thread_ = nullptr;
  GstPad *source_ = nullptr;
  bool follows_gap_ = false;
  std::mutex mutex_;  // protects the following
  std::condition_variable changed_;
  GQueue frames_ = G_QUEUE_INIT;  // to push
  bool is_pushing_ = false, is_interrupted_ = false, is_old_ = false, ends_ = false;
  GstFlowReturn result_ = GST_FLOW_OK;
};

}  // namespace cudavision
