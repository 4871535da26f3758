// SPDX-License-Identifier: LGPL-2.1-or-later
// How many frame durations pass from one frame of a stream to the next.
#pragma once

#include <gst/gst.h>

#include <deque>

namespace cudavision {

// The step from the previous frame to a frame.
struct FrameStep {
  int frames = 1;         // the frame durations that have passed, rounded; at least 1
  GstClockTime time = 0;  // the time that has passed; without timestamps a frame duration; 0 if not known
  bool follows = true;    // false if the timestamp went back: the frame does not show what came next
  bool as_usual = true;   // false if the distance is more than twice the longest of the last distances
  double scale = 1;       // how many old units of `frames` make a new one; 1 if the duration is unchanged
};

// The most steps that are predicted for one frame, which bounds the time that the frame takes.
inline constexpr int kMostSteps = 1000;

// Counts frame durations. The frame duration is that of the caps, unless the timestamps of the last frames contradict
// it: caps often hold a rate that a camera does not keep, such as 90000 frames a second. Then, and if the caps have no
// rate, it is the median distance of the last frames. At the frame rates that occur, no decision depends on the
// nanoseconds by which timestamps jitter.
class FrameSteps {
 public:
  // Call it for new caps. duration: the frame duration of the caps; 0 if they have no rate.
  void follow_caps(GstClockTime duration);
  // Forgets the earlier frames: the next frame begins a new series.
  void restart();
  // Call it for a new segment: the next frame does not follow the last one if its timestamp goes back or stays.
  void expect_jump() { jump_ = true; }
  bool expects_jump() const { return jump_; }
  // Returns the step to the next frame. pts: its timestamp, or GST_CLOCK_TIME_NONE. reverse: playback is backwards.
  FrameStep next(GstClockTime pts, bool reverse);
  // The frame duration; 0 if it is not known.
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
  int unstamped_ = 0;                // frames without a timestamp since last_pts_
  std::deque<GstClockTime> recent_;  // the last distances, oldest first
};

}  // namespace cudavision
