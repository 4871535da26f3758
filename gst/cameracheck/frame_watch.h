// SPDX-License-Identifier: LGPL-2.1-or-later
// Notices at once that no frame comes: the clock of the pipeline calls back, and no thread of our own waits.
#pragma once

#include <gst/gst.h>

#include <mutex>
#include <optional>

namespace cudavision {

// While the element plays, its clock has one entry: a time by which the next frame should have come. A frame only notes
// when it came; when the entry is due, it is made anew for that frame's deadline. Any thread may call the functions.
class FrameWatch {
 public:
  explicit FrameWatch(GstElement *element) : element_(element) {}
  // Begins with the time at which the first frame should come. Posts a message when none has come for the time
  // `longest`. Does nothing if that is 0, or without a clock.
  void start(GstClockTime longest);
  void stop();
  void note_frame();
  // For how long frames were lost before the last one; once.
  std::optional<GstClockTime> take_lost();

 private:
  static gboolean is_due(GstClock *clock, GstClockTime time, GstClockID id, gpointer watch);
  static void release(gpointer watch) { gst_object_unref(static_cast<FrameWatch *>(watch)->element_); }
  void arm();
  void disarm();

  std::mutex mutex_;
  GstElement *element_;
  GstClock *clock_ = nullptr;  // while the element plays and is watched
  GstClockID id_ = nullptr;
  GstClockTime longest_ = 0, last_ = 0;  // last_: when the last frame came, by the clock
  bool is_lost_ = false;
  std::optional<GstClockTime> ended_;
};

}  // namespace cudavision
