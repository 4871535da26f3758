// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/element/frame_pusher.h"

#include <chrono>
#include <utility>

namespace cudavision {
namespace {

// Whoever brings a frame holds the lock of the sink pad. A program that is called with the frame before may need this lock, for
// example to end the stream. So nobody waits here for longer than this, unless so many frames are in the list.
constexpr std::chrono::milliseconds kPatience{200};
constexpr guint kMostFrames = 8;

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

bool FramePusher::begin(GstPad *source) {
  if (thread_ == nullptr) {
    source_ = source;
    thread_ = g_thread_try_new("cudavision", run, this, nullptr);
  }
  const std::lock_guard lock(mutex_);
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
  pusher->push_frames();
  gst_clear_object(&element);
  return nullptr;
}

void FramePusher::push_frames() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !g_queue_is_empty(&frames_) || ends_; });
    if (ends_) return;
    auto *frame = GST_BUFFER(g_queue_pop_head(&frames_));
    is_pushing_ = true;
    lock.unlock();
    const GstFlowReturn result = gst_pad_push(source_, frame);
    lock.lock();
    is_pushing_ = false, result_ = std::exchange(is_old_, false) ? GST_FLOW_OK : result;
    changed_.notify_all();
  }
}

void FramePusher::wait() {
  if (thread_ == nullptr || thread_ == g_thread_self()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_idle() || is_interrupted_; });
}

GstFlowReturn FramePusher::take_result() {
  if (thread_ == nullptr) return GST_FLOW_OK;
  std::unique_lock lock(mutex_);
  const GstFlowReturn result = std::exchange(result_, GST_FLOW_OK);
  const bool is_interrupted = is_interrupted_;
  lock.unlock();
  if (is_interrupted) return GST_FLOW_FLUSHING;
  return has_passed(result, source_) ? GST_FLOW_OK : result;
}

GstFlowReturn FramePusher::push(GstBuffer *frame) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [this] { return is_idle() || is_interrupted_; });
  }
  if (const GstFlowReturn before = take_result(); before != GST_FLOW_OK) {
    gst_buffer_unref(frame);
    return before;
  }
  if (std::exchange(follows_gap_, false)) {
    frame = gst_buffer_make_writable(frame);
    GST_BUFFER_FLAG_SET(frame, GST_BUFFER_FLAG_DISCONT);
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return g_queue_get_length(&frames_) < kMostFrames || is_interrupted_; });
  if (is_interrupted_) {
    gst_buffer_unref(frame);
    return GST_FLOW_FLUSHING;
  }
  g_queue_push_tail(&frames_, frame);
  changed_.notify_all();
  return GST_FLOW_OK;
}

void FramePusher::interrupt() {
  const std::lock_guard lock(mutex_);
  is_interrupted_ = true;
  drop_frames();
  changed_.notify_all();
}

void FramePusher::resume() {
  const std::lock_guard lock(mutex_);
  is_interrupted_ = false, is_old_ = is_pushing_, result_ = GST_FLOW_OK;
}

void FramePusher::end() {
  if (thread_ == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    drop_frames();
    changed_.notify_all();
  }
  if (thread_ == g_thread_self()) return;  // which GStreamer forbids; it ends when it comes back
  g_thread_join(std::exchange(thread_, nullptr));
  ends_ = is_old_ = false, result_ = GST_FLOW_OK;
}

}  // namespace cudavision
