// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cameracheck/frame_watch.h"

#include <utility>

#include "gst/cameracheck/cameracheck_operation.h"

namespace cudavision {

void FrameWatch::start(GstClockTime longest) {
  const std::lock_guard lock(mutex_);
  clock_ = longest > 0 ? gst_element_get_clock(element_) : nullptr;
  if (clock_ == nullptr) return;
  longest_ = longest, last_ = gst_clock_get_time(clock_);
  arm();
}

void FrameWatch::stop() {
  const std::lock_guard lock(mutex_);
  disarm();
  if (std::exchange(is_lost_, false)) ended_ = gst_clock_get_time(clock_) - last_;
  gst_clear_object(&clock_);
}

void FrameWatch::note_frame() {
  const std::lock_guard lock(mutex_);
  if (clock_ == nullptr) return;
  const GstClockTime now = gst_clock_get_time(clock_);
  if (std::exchange(is_lost_, false)) ended_ = now - last_;
  last_ = now;
  if (id_ == nullptr) arm();
}

gboolean FrameWatch::is_due(GstClock *, GstClockTime, GstClockID id, gpointer watch) {
  auto &self = *static_cast<FrameWatch *>(watch);
  std::unique_lock lock(self.mutex_);
  if (id != self.id_) return TRUE;  // it was stopped meanwhile
  self.disarm();
  if (GST_PAD_IS_EOS(GST_BASE_TRANSFORM_SINK_PAD(self.element_))) return TRUE;
  const GstClockTime now = gst_clock_get_time(self.clock_), lasted = now - self.last_;
  self.is_lost_ = lasted >= self.longest_;
  if (!self.is_lost_) return self.arm(), TRUE;
  lock.unlock();
  post_camera_event(self.element_, lost_event(lasted, true), now - gst_element_get_base_time(self.element_));
  return TRUE;
}

std::optional<GstClockTime> FrameWatch::take_lost() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ended_, std::nullopt);
}

void FrameWatch::arm() {
  id_ = gst_clock_new_single_shot_id(clock_, last_ + longest_);
  gst_object_ref(element_);
  (void)gst_clock_id_wait_async(id_, is_due, this, release);
}

void FrameWatch::disarm() {
  if (id_ == nullptr) return;
  gst_clock_id_unschedule(id_);
  gst_clock_id_unref(std::exchange(id_, nullptr));
}

}  // namespace cudavision
