// SPDX-License-Identifier: LGPL-2.1-or-later
// The queue of frames that an element holds back, and of the events between them.
#pragma once

#include <gst/gst.h>

#include <deque>

namespace cudavision {

class LookBack {
 public:
  LookBack() = default;
  LookBack(const LookBack &) = delete;
  LookBack &operator=(const LookBack &) = delete;
  ~LookBack() { clear(); }

  // Appends a frame or a serialised event, and takes over the caller's reference.
  void push(GstBuffer *frame) { items_.push_back(GST_MINI_OBJECT_CAST(frame)), ++frames_; }
  void push(GstEvent *event) { items_.push_back(GST_MINI_OBJECT_CAST(event)); }
  bool is_empty() const { return items_.empty(); }
  int frames() const { return frames_; }
  std::size_t events() const { return items_.size() - static_cast<std::size_t>(frames_); }
  // Return and remove the first item if it is an event, or a frame; otherwise null. The caller owns the reference.
  GstEvent *take_event() {
    return !is_empty() && GST_IS_EVENT(items_.front()) ? GST_EVENT_CAST(take()) : nullptr;
  }
  GstBuffer *take_frame() {
    if (is_empty() || !GST_IS_BUFFER(items_.front())) return nullptr;
    --frames_;
    return GST_BUFFER_CAST(take());
  }
  // Empties the queue. The pad stores the sticky events, and sends them before the next frame.
  void flush(GstPad *source) {
    for (GstMiniObject *item : items_)
      if (GST_IS_EVENT(item) && GST_EVENT_IS_STICKY(item))
        gst_pad_store_sticky_event(source, GST_EVENT_CAST(item));
    clear();
  }
  void clear() {
    for (GstMiniObject *item : items_) gst_mini_object_unref(item);
    items_.clear();
    frames_ = 0;
  }

 private:
  GstMiniObject *take() {
    GstMiniObject *item = items_.front();
    items_.pop_front();
    return item;
  }

  std::deque<GstMiniObject *> items_;
  int frames_ = 0;
};

}  // namespace cudavision
