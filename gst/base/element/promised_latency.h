// SPDX-License-Identifier: LGPL-2.1-or-later
// The latency that an element promises in a live pipeline: its share of the answer to a latency query. A sink shows
// frames later by the sum of all shares, and regards only those as late that arrive after that.
#pragma once

#include <gst/gst.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace cudavision {

// The promise follows the time that frames take, and only rises between start and stop: each change makes the sinks
// wait for another time.
class PromisedLatency {
 public:
  // Called when the element starts, before the first frame.
  void restart();
  // Called for new caps. frame_duration: by the caps, or 0 if their frame rate is variable.
  void set_frame_duration(GstClockTime frame_duration) { frame_duration_ = frame_duration; }
  // Called before the work on a frame that has arrived at `sink`. Returns true if the host must wait for the GPU's work
  // on this frame, because its time is wanted: in a live pipeline for the first frames, then for one of kFrames.
  bool begin_frame(GstPad *sink);
  // Takes the time from the arrival of a frame until all work on it was finished. Returns true if the promise rises in
  // a live pipeline: the caller must then post a latency message. Called by the streaming thread.
  bool take(GstClockTime processing_time);
  // Sets the time for which the element holds frames back, which is promised in addition. Returns true like take().
  bool hold(GstClockTime time);
  // Adds the promise to a latency query that the elements before have answered. Called from any thread.
  void add_to(GstQuery *latency);

 private:
  static constexpr std::size_t kFrames = 32;

  GstClockTime typical() const;

  std::atomic<bool> live_ = false;
  std::atomic<bool> is_told_ = false;  // the pipeline has asked since the start, or was told to ask
  std::atomic<GstClockTime> promised_ = 0, hold_time_ = 0;
  GstClockTime frame_duration_ = 0;
  std::array<GstClockTime, 8> times_{};  // the processing times of the last frames, in a ring
  std::size_t count_ = 0;                // how many were taken
  std::size_t frames_ = 0;               // how often begin_frame() was called
};

}  // namespace cudavision
