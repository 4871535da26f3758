// SPDX-License-Identifier: LGPL-2.1-or-later
// Pushes frames, and the serialized events between them, downstream on a thread of its own. A sink that waits for the
// clock blocks the thread that pushes a frame: a slow element could not work on the next frame meanwhile.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "cuda/common/stop.h"

namespace cudavision {

// While the element runs, the caller holds the stream lock of the element's sink pad, except for interrupt() and
// set_paused(). The thread may call a program downstream that needs this lock, or another lock of the caller. Therefore
// wait() and push() do not block for longer than a sink may hold a frame.
class FramePusher {
 public:
  FramePusher() = default;
  FramePusher(const FramePusher &) = delete;
  FramePusher &operator=(const FramePusher &) = delete;
  ~FramePusher();

  // Starts the thread if there is none; returns false if it cannot be used. hold: how long a sink may hold a frame.
  bool begin(GstPad *source, GstClockTime hold);
  // Waits until the thread has pushed all items, but not for longer than a sink may hold a frame, and not on the thread
  // itself. Returns false if items are left. Returns true at once while interrupted, and if the thread is to end.
  bool wait();
  bool is_interrupted();
  // Calls wait(). If that returns true, takes the frame and lets the thread push it. Otherwise the frame is late:
  // returns GST_BASE_TRANSFORM_FLOW_DROPPED and does not take it. If the frame before was refused and this one would
  // be, too, returns the reason and does not take it.
  GstFlowReturn push(GstBuffer *frame);
  // Takes the serialized event and lets the thread push it after all items. Returns false and does not take it if the
  // queue is full.
  bool push(GstEvent *event);
  // Returns, once, why the last frame was refused if the next one would be, too; otherwise GST_FLOW_OK.
  GstFlowReturn take_result();
  // Drops the items that are left, but stores sticky events on the pad, and ends all waiting until resume(). The result
  // of a frame that was given before resume() is ignored.
  void interrupt(StopReason reason);
  void resume(StopReason reason);
  // While the element is paused, a sink may hold a frame for any time: wait() has no time limit.
  void set_paused(bool is_paused);
  // The flow result for a frame that is interrupted. If the interruption comes from the thread itself, from a program
  // that removes the element in a callback for a frame, only the frame is dropped and the stream goes on.
  GstFlowReturn when_interrupted() const {
    return is_interrupted_by_itself_ ? GST_BASE_TRANSFORM_FLOW_DROPPED : GST_FLOW_FLUSHING;
  }
  // Drops all items, ends the thread and, unless called on it, waits for it.
  void end();
  // Marks the next frame as DISCONT, because frames before it were dropped.
  void note_gap() { follows_gap_ = true; }
  void forget_gap() { follows_gap_ = false; }

 private:
  static gpointer run(gpointer self);
  void push_items();
  void add(GstMiniObject *item);
  bool is_done() const;
  // drop_items() and join() unlock *lock while they free items or wait, because that may call other code.
  void drop_items(std::unique_lock<std::mutex> *lock);
  void join(std::unique_lock<std::mutex> *lock);
  void drop(GstMiniObject *item);

  GThread *thread_ = nullptr;  // written under the mutex
  GstPad *source_ = nullptr;
  std::chrono::nanoseconds patience_{};
  bool follows_gap_ = false;
  std::atomic<bool> is_interrupted_by_itself_ = false;
  std::mutex mutex_;  // protects the following
  std::condition_variable changed_;
  GQueue items_ = G_QUEUE_INIT;                  // to push: frames and events
  std::chrono::steady_clock::time_point since_;  // wait() counts its limit from here: the thread took an item
  unsigned interrupted_ = 0;                     // bits of StopReason; 0: not interrupted
  bool is_pushing_ = false, is_old_ = false, is_paused_ = false, ends_ = false, has_left_ = false;
  int flushes_held_ = 0;  // the number of FLUSH_STOP events that are not pushed yet
  GstFlowReturn result_ = GST_FLOW_OK;
};

}  // namespace cudavision
