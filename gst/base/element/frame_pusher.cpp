// SPDX-License-Identifier: LGPL-2.1-or-later
// Pushes frames and events downstream on a thread of its own.
#include "gst/base/element/frame_pusher.h"

#include <algorithm>
#include <utility>

namespace cudavision {
namespace {

constexpr guint kMostItems = 1024;
constexpr GstClockTime kSlack = 200 * GST_MSECOND, kLongest = 60 * GST_SECOND;

// Whether the next frame may be pushed after this result: the frame was accepted, or it was refused as flushing or not
// linked, but by now the source pad has a peer that does not flush.
bool has_passed(GstFlowReturn result, GstPad *source) {
  if (result >= GST_FLOW_OK) return true;
  if (result != GST_FLOW_FLUSHING && result != GST_FLOW_NOT_LINKED) return false;
  GstPad *peer = gst_pad_get_peer(source);
  const bool is_open = peer != nullptr && !GST_PAD_IS_FLUSHING(source) && !GST_PAD_IS_FLUSHING(peer);
  gst_clear_object(&peer);
  return is_open;
}

}  // namespace

bool FramePusher::begin(GstPad *source, GstClockTime hold) {
  patience_ = std::chrono::nanoseconds(std::min(hold, kLongest) + kSlack);
  std::unique_lock lock(mutex_);
  if (has_left_) join(&lock);
  if (thread_ == nullptr) {
    source_ = source;
    thread_ = g_thread_try_new("cudavision", run, this, nullptr);
  }
  return thread_ != nullptr && !ends_;
}

FramePusher::~FramePusher() {
  end();
  if (thread_ != nullptr) g_thread_unref(thread_);  // this destructor runs on the thread
}

// Holds a reference to the element, which owns this object: a program may remove it in a callback for a pushed frame.
gpointer FramePusher::run(gpointer self) {
  auto *pusher = static_cast<FramePusher *>(self);
  GstObject *element = gst_object_get_parent(GST_OBJECT(pusher->source_));
  pusher->push_items();
  gst_clear_object(&element);
  return nullptr;
}

void FramePusher::push_items() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !g_queue_is_empty(&items_) || ends_; });
    if (ends_) break;
    auto *item = GST_MINI_OBJECT_CAST(g_queue_pop_head(&items_));
    is_pushing_ = true;
    since_ = std::chrono::steady_clock::now();
    lock.unlock();
    const bool is_frame = GST_IS_BUFFER(item);
    const bool is_end_of_flush = !is_frame && GST_EVENT_TYPE(item) == GST_EVENT_FLUSH_STOP;
    GstFlowReturn result = GST_FLOW_OK;
    if (is_frame)
      result = gst_pad_push(source_, GST_BUFFER_CAST(item));
    else
      gst_pad_push_event(source_, GST_EVENT_CAST(item));
    lock.lock();
    is_pushing_ = false;
    if (is_end_of_flush && flushes_held_ > 0) --flushes_held_;
    if (std::exchange(is_old_, false))
      result_ = GST_FLOW_OK;
    else if (is_frame)
      result_ = result;
    changed_.notify_all();
  }
  has_left_ = true;
}

bool FramePusher::is_done() const {
  return interrupted_ != 0 || ends_ ||
         (g_queue_is_empty(const_cast<GQueue *>(&items_)) && (thread_ == g_thread_self() || !is_pushing_));
}

bool FramePusher::wait() {
  if (thread_ == nullptr) return true;
  std::unique_lock lock(mutex_);
  if (thread_ == g_thread_self()) return is_done();  // called from downstream during a push
  // Until the sink receives the end of the flush, a live source regards all that it makes as late: no time limit yet.
  if (flushes_held_ > 0) since_ = std::chrono::steady_clock::now();
  while (!is_done()) {
    const auto end = since_ + patience_;
    if (!is_paused_ && std::chrono::steady_clock::now() >= end) return false;
    if (is_paused_)
      changed_.wait(lock);
    else
      changed_.wait_until(lock, end);
  }
  return true;
}

GstFlowReturn FramePusher::take_result() {
  if (thread_ == nullptr) return GST_FLOW_OK;
  std::unique_lock lock(mutex_);
  const GstFlowReturn result = std::exchange(result_, GST_FLOW_OK);
  const bool is_interrupted = interrupted_ != 0;
  lock.unlock();
  if (is_interrupted) return when_interrupted();
  return has_passed(result, source_) ? GST_FLOW_OK : result;
}

GstFlowReturn FramePusher::push(GstBuffer *frame) {
  const bool is_late = !wait();
  if (const GstFlowReturn before = take_result(); before != GST_FLOW_OK) return before;
  if (is_late) return GST_BASE_TRANSFORM_FLOW_DROPPED;
  const std::lock_guard lock(mutex_);
  if (interrupted_ != 0) return when_interrupted();
  if (std::exchange(follows_gap_, false)) {
    frame = gst_buffer_make_writable(frame);
    GST_BUFFER_FLAG_SET(frame, GST_BUFFER_FLAG_DISCONT);
  }
  add(GST_MINI_OBJECT_CAST(frame));
  return GST_FLOW_OK;
}

bool FramePusher::push(GstEvent *event) {
  std::unique_lock lock(mutex_);
  if (g_queue_get_length(&items_) >= kMostItems) return false;
  if (interrupted_ != 0) {
    lock.unlock();
    drop(GST_MINI_OBJECT_CAST(event));
    return true;
  }
  add(GST_MINI_OBJECT_CAST(event));
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) ++flushes_held_;
  return true;
}

void FramePusher::add(GstMiniObject *item) {
  if (is_done()) since_ = std::chrono::steady_clock::now();
  g_queue_push_tail(&items_, item);
  changed_.notify_all();
}

bool FramePusher::is_interrupted() {
  const std::lock_guard lock(mutex_);
  return interrupted_ != 0;
}

// Stores a sticky event, such as tags, on the pad before it is dropped, as GStreamer's queue does. A flush removes a
// stored segment and end of stream from the pad again.
void FramePusher::drop(GstMiniObject *item) {
  if (GST_IS_EVENT(item) && GST_EVENT_IS_STICKY(item))
    gst_pad_store_sticky_event(source_, GST_EVENT_CAST(item));
  gst_mini_object_unref(item);
}

void FramePusher::drop_items(std::unique_lock<std::mutex> *lock) {
  GQueue items = std::exchange(items_, GQueue G_QUEUE_INIT);
  flushes_held_ = 0;
  lock->unlock();
  while (gpointer item = g_queue_pop_head(&items)) drop(GST_MINI_OBJECT_CAST(item));
  lock->lock();
}

void FramePusher::interrupt(StopReason reason) {
  std::unique_lock lock(mutex_);
  interrupted_ |= static_cast<unsigned>(reason);
  is_interrupted_by_itself_ = thread_ != nullptr && thread_ == g_thread_self();
  changed_.notify_all();
  drop_items(&lock);
}

void FramePusher::resume(StopReason reason) {
  const std::lock_guard lock(mutex_);
  interrupted_ &= ~static_cast<unsigned>(reason);
  if (interrupted_ != 0) return;
  is_interrupted_by_itself_ = false, is_old_ = is_pushing_, result_ = GST_FLOW_OK;
  since_ = std::chrono::steady_clock::now();
}

void FramePusher::set_paused(bool is_paused) {
  const std::lock_guard lock(mutex_);
  is_paused_ = is_paused;
  since_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

void FramePusher::end() {
  if (thread_ == nullptr) return;
  std::unique_lock lock(mutex_);
  ends_ = true;
  changed_.notify_all();
  drop_items(&lock);
  if (thread_ != g_thread_self()) join(&lock);  // otherwise it ends when its push returns; begin() joins it
}

void FramePusher::join(std::unique_lock<std::mutex> *lock) {
  lock->unlock();
  g_thread_join(thread_);
  lock->lock();
  thread_ = nullptr;
  ends_ = has_left_ = is_old_ = false, result_ = GST_FLOW_OK;
}

}  // namespace cudavision
