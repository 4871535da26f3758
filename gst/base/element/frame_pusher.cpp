// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/element/frame_pusher.h"

#include <algorithm>
#include <utility>

namespace cudavision {
namespace {

constexpr GstClockTime kSlack = 200 * GST_MSECOND, kLongest = 60 * GST_SECOND;

// Whether the next frame may be pushed: this one was taken, or the sink that refused it has been replaced meanwhile.
bool has_passed(GstFlowReturn result, GstPad *source) {
  if (result >= GST_FLOW_OK) return true;
  if (result != GST_FLOW_FLUSHING && result != GST_FLOW_NOT_LINKED) return false;
  GstPad *peer = gst_pad_get_peer(source);
  const bool is_open = peer != nullptr && !GST_PAD_IS_FLUSHING(source) && !GST_PAD_IS_FLUSHING(peer);
  gst_clear_object(&peer);
  return is_open;
}

}  // namespace

bool FramePusher::begin(GstPad *source, GstClockTime latency) {
  patience_ = std::chrono::nanoseconds(std::min(latency, kLongest) + kSlack);
  const std::lock_guard lock(mutex_);
  if (thread_ == nullptr) {
    source_ = source;
    thread_ = g_thread_try_new("cudavision", run, this, nullptr);
  }
  return thread_ != nullptr && !ends_;
}

FramePusher::~FramePusher() {
  end();
  if (thread_ != nullptr) g_thread_unref(thread_);  // it runs this
}

// The element, which owns the object, must not go before the thread: a program may remove it when it is called with a frame.
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
    if (ends_) return;
    auto *item = GST_MINI_OBJECT_CAST(g_queue_pop_head(&items_));
    is_pushing_ = true;
    lock.unlock();
    const bool is_frame = GST_IS_BUFFER(item);
    GstFlowReturn result = GST_FLOW_OK;
    if (is_frame)
      result = gst_pad_push(source_, GST_BUFFER_CAST(item));
    else
      gst_pad_push_event(source_, GST_EVENT_CAST(item));
    lock.lock();
    is_pushing_ = false;
    if (std::exchange(is_old_, false))
      result_ = GST_FLOW_OK;
    else if (is_frame)
      result_ = result;
    changed_.notify_all();
  }
}

bool FramePusher::wait() {
  if (thread_ == nullptr) return true;
  const bool is_itself = thread_ == g_thread_self();  // called with what it pushes
  const auto is_done = [&] {
    return is_interrupted_ || (g_queue_is_empty(&items_) && (is_itself || !is_pushing_));
  };
  std::unique_lock lock(mutex_);
  return is_itself ? is_done() : changed_.wait_for(lock, patience_, is_done);
}

GstFlowReturn FramePusher::take_result() {
  if (thread_ == nullptr) return GST_FLOW_OK;
  std::unique_lock lock(mutex_);
  const GstFlowReturn result = std::exchange(result_, GST_FLOW_OK);
  const bool is_interrupted = is_interrupted_;
  lock.unlock();
  if (is_interrupted) return when_interrupted();
  return has_passed(result, source_) ? GST_FLOW_OK : result;
}

GstFlowReturn FramePusher::push(GstBuffer *frame) {
  const bool is_late = !wait();
  if (const GstFlowReturn before = take_result(); before != GST_FLOW_OK) return before;
  if (is_late) return GST_BASE_TRANSFORM_FLOW_DROPPED;
  const std::lock_guard lock(mutex_);
  if (is_interrupted_) return when_interrupted();
  if (std::exchange(follows_gap_, false)) {
    frame = gst_buffer_make_writable(frame);
    GST_BUFFER_FLAG_SET(frame, GST_BUFFER_FLAG_DISCONT);
  }
  g_queue_push_tail(&items_, frame);
  changed_.notify_all();
  return GST_FLOW_OK;
}

void FramePusher::push(GstEvent *event) {
  const std::lock_guard lock(mutex_);
  g_queue_push_tail(&items_, event);
  changed_.notify_all();
}

void FramePusher::drop_items() {
  while (gpointer item = g_queue_pop_head(&items_)) {
    // As behind a queue: tags go on to describe the stream. The flush takes a segment and an end of stream from the pad.
    if (GST_IS_EVENT(item) && GST_EVENT_IS_STICKY(item))
      gst_pad_store_sticky_event(source_, GST_EVENT_CAST(item));
    gst_mini_object_unref(GST_MINI_OBJECT_CAST(item));
  }
}

void FramePusher::interrupt() {
  const std::lock_guard lock(mutex_);
  is_interrupted_ = true;
  is_interrupted_by_itself_ = thread_ != nullptr && thread_ == g_thread_self();
  drop_items();
  changed_.notify_all();
}

void FramePusher::resume() {
  const std::lock_guard lock(mutex_);
  is_interrupted_ = is_interrupted_by_itself_ = false, is_old_ = is_pushing_, result_ = GST_FLOW_OK;
}

void FramePusher::end() {
  if (thread_ == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    drop_items();
    changed_.notify_all();
  }
  if (thread_ == g_thread_self()) return;  // which GStreamer forbids; it ends when it comes back
  g_thread_join(thread_);
  const std::lock_guard lock(mutex_);
  thread_ = nullptr;
  ends_ = is_old_ = false, result_ = GST_FLOW_OK;
}

}  // namespace cudavision
