// SPDX-License-Identifier: LGPL-2.1-or-later
// How many frame durations pass from one frame of a stream to the next.
#pragma once

#include <gst/gst.h>

#include <deque>

namespace cudavision {

// From the frame before to a frame.
struct FrameStep {
  int frames = 1;         // the frame durations that have passed, rounded; at least 1
  GstClockTime time = 0;  // that has passed; without timestamps, the frame duration; 0 if nothing tells
  bool follows = true;    // false if the timestamp went back: the frame does not show what came next
  bool as_usual = true;   // false if the distance is more than twice as long as any distance lately
  double scale = 1;  // how much longer a step is than before: from now on `frames` counts by another duration
};

// Beyond this many steps nothing is predicted. It bounds the time that a frame may take.
inline constexpr int kMostSteps = 1000;

// The frame duration is that of the caps, unless the timestamps of the last frames contradict it. Caps often hold a rate that
// a camera does not keep, such as 90000 frames a second. Then, and if the caps have no rate, it is the typical distance of
// the last frames. All rules are the same to both sides of the nanoseconds by which timestamps jitter, for the rates that
// occur.
class FrameSteps {
 public:
  // duration: by the caps; 0 if they have no rate.
  void follow_caps(GstClockTime duration);
  // The next frame begins a series of frames.
  void restart();
  // The next frame is the first one of a segment: if its timestamp does not follow the last one, it shows another time.
  void expect_jump() { jump_ = true; }
  bool expects_jump() const { return jump_; }
  // pts: of the next frame, or GST_CLOCK_TIME_NONE. reverse: the stream is played backwards.
  FrameStep next(GstClockTime pts, bool reverse);
  // 0 if nothing tells.
  GstClockTime duration() const { return duration_; }

 private:
  static constexpr std::size_t kRecent = 15;

  GstClockTime longest() const;
  GstClockTime typical() const;
  GstClockTime wanted_duration() const;
  double update_duration();

  GstClockTime caps_duration_ = 0, duration_ = 0;
  GstClockTime last_pts_ = GST_CLOCK_TIME_NONE;
  bool jump_ = false;
  int unstamped_ = 0;                // frames without a timestamp since then
  std::deque<GstClockTime> recent_;  // the last distances, oldest first
};

}  // namespace cudavision
