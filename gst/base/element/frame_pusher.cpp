// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/element/frame_pusher.h"

#include <utility>

namespace cudavision {

bool FramePusher::begin(GstPad *source) {
  if (thread_ == nullptr) {
    source_ = source;
    thread_ = g_thread_try_new("cudavision", run, this, nullptr);
  }
  return thread_ != nullptr;
}

gpointer FramePusher::run(gpointer self) {
  static_cast<FramePusher *>(self)->push_frames();
  return nullptr;
}

void FramePusher::push_frames() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return frame_ != nullptr || ends_; });
    if (ends_) return;
    GstBuffer *frame = std::exchange(frame_, nullptr);
    is_pushing_ = true;
    lock.unlock();
    const GstFlowReturn result = gst_pad_push(source_, frame);
    lock.lock();
    is_pushing_ = false, result_ = std::exchange(is_old_, false) ? GST_FLOW_OK : result;
    changed_.notify_all();
  }
}

GstFlowReturn FramePusher::wait() {
  if (thread_ == nullptr || thread_ == g_thread_self()) return GST_FLOW_OK;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return (frame_ == nullptr && !is_pushing_) || is_interrupted_; });
  return is_interrupted_ ? GST_FLOW_FLUSHING : std::exchange(result_, GST_FLOW_OK);
}

GstFlowReturn FramePusher::push(GstBuffer *frame) {
  const GstFlowReturn before = wait();
  if (before != GST_FLOW_OK) {
    gst_buffer_unref(frame);
    return before;
  }
  if (std::exchange(follows_gap_, false)) {
    frame = gst_buffer_make_writable(frame);
    GST_BUFFER_FLAG_SET(frame, GST_BUFFER_FLAG_DISCONT);
  }
  const std::lock_guard lock(mutex_);
  frame_ = frame;
  changed_.notify_all();
  return GST_FLOW_OK;
}

void FramePusher::interrupt() {
  const std::lock_guard lock(mutex_);
  is_interrupted_ = true;
  changed_.notify_all();
}

void FramePusher::resume() {
  const std::lock_guard lock(mutex_);
  is_interrupted_ = false, is_old_ = frame_ != nullptr || is_pushing_, result_ = GST_FLOW_OK;
}

void FramePusher::end() {
  if (thread_ == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  g_thread_join(std::exchange(thread_, nullptr));
  gst_clear_buffer(&frame_);
  ends_ = is_old_ = false, result_ = GST_FLOW_OK;
}

}  // namespace cudavision
