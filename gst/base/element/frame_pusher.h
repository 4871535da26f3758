// SPDX-License-Identifier: LGPL-2.1-or-later
// Brings frames, and what comes between them, to the sink on a thread of its own. A sink that waits for the clock holds the thread
// that brings it a frame, so that an element that takes longer than the distance of two frames would lose this time.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "cuda/common/stop.h"

namespace cudavision {

// Whoever holds the stream lock of the element's sink pad calls the functions, with the exception of interrupt(). A program that
// is called with a frame behind the element may need this lock, or another one of this thread's: so nobody waits here for
// longer than a sink may hold a frame.
class FramePusher {
 public:
  FramePusher() = default;
  FramePusher(const FramePusher &) = delete;
  FramePusher &operator=(const FramePusher &) = delete;
  ~FramePusher();

  // Starts the thread if there is none. Returns false if the system gives none. hold: a sink may hold a frame for so long.
  bool begin(GstPad *source, GstClockTime hold);
  // Waits until nothing is left to push; but not for longer than a sink may hold a frame, and not in the thread itself. Returns
  // false if something is left. Nobody waits for what was interrupted, nor for a thread that is to end.
  bool wait();
  bool is_interrupted();
  // Lets the thread push the frame, which it takes, when wait() returns true. Otherwise the frame is late: it is not taken, and
  // the result is GST_BASE_TRANSFORM_FLOW_DROPPED. If the frame before could not be pushed, and this one could not either,
  // returns why, and does not take this one.
  GstFlowReturn push(GstBuffer *frame);
  // Lets the thread push the serialized event, which it takes, behind what is left. Returns false if too much is left.
  bool push(GstEvent *event);
  // Returns what became of the last frame, once.
  GstFlowReturn take_result();
  // What is left is dropped, but for events that stick to the pad, and nobody waits any more, until resume(). What becomes of a
  // frame that was given before resume() is not told.
  void interrupt(StopReason reason);
  void resume(StopReason reason);
  // While the element is paused, a sink may hold a frame for any time.
  void set_paused(bool is_paused);
  // What is said of a frame that is interrupted. Who takes the element away while he is called with a frame does not end
  // the stream: the frame is dropped.
  GstFlowReturn when_interrupted() const {
    return is_interrupted_by_itself_ ? GST_BASE_TRANSFORM_FLOW_DROPPED : GST_FLOW_FLUSHING;
  }
  // Waits for the thread, and ends it.
  void end();
  // Frames before the next one were dropped.
  void note_gap() { follows_gap_ = true; }
  void forget_gap() { follows_gap_ = false; }

 private:
  static gpointer run(gpointer self);
  void push_items();
  void add(GstMiniObject *item);
  bool is_done() const;
  // Both open the lock, because others may be called.
  void drop_items(std::unique_lock<std::mutex> *lock);
  void join(std::unique_lock<std::mutex> *lock);
  void drop(GstMiniObject *item);

  GThread *thread_ = nullptr;  // written with the mutex
  GstPad *source_ = nullptr;
  std::chrono::nanoseconds patience_{};
  bool follows_gap_ = false;
  std::atomic<bool> is_interrupted_by_itself_ = false;
  std::mutex mutex_;  // protects the following
  std::condition_variable changed_;
  GQueue items_ = G_QUEUE_INIT;                  // to push: frames and events
  std::chrono::steady_clock::time_point since_;  // the thread has its item, or could have one
  unsigned interrupted_ = 0;                     // reasons
  bool is_pushing_ = false, is_old_ = false, is_paused_ = false, ends_ = false, has_left_ = false;
  int flushes_held_ = 0;  // their ends are among the items
  GstFlowReturn result_ = GST_FLOW_OK;
};

}  // namespace cudavision
