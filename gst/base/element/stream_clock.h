// SPDX-License-Identifier: LGPL-2.1-or-later
// The time that passes from one frame of a stream to the next, for all who remember something of earlier frames.
#pragma once

#include <gst/gst.h>

#include <array>

namespace cudavision {

// How a frame lies in time.
struct Tick {
  enum class Place {
    follows,   // it continues what the frame before it showed
    stray,     // its timestamp is out of place; only the next frame tells whether time has jumped
    returns,   // the frame before it was stray; it continues what the frame before that one showed
    confirms,  // the frame before it was stray, and it continues what that one showed: time has jumped there
    jumps,     // time has jumped here
  };
  // Whether time has gone back, or has paused for long. True once for each jump.
  bool tells_jump() const { return place == Place::confirms || place == Place::jumps; }

  Place place = Place::follows;
  GstClockTime time = 0;   // since the last frame; that of a stray frame or a jump is a frame duration
  GstClockTime pause = 0;  // if a jump is told: what it has left out, if it went forward by a day at most
  GstClockTime step = 0;   // `time`; of a stray frame and a jump that of the timestamps, or 0 if they go back
  int frames = 1;          // `step` in frame durations, rounded; at least 1
  GstClockTime duration = GST_SECOND / 30;  // of a frame
  double scale = 1;      // how many old frame durations make a new one; 1 if the duration is unchanged
  bool is_long = false;  // `step` is more than twice the longest of the last distances
};

// The most steps that are predicted for one frame, which bounds the time that the frame takes.
inline constexpr int kMostSteps = 1000;

// Learns the distance of frames from their timestamps, and tells frames that follow one another from jumps in time, by
// the rules of the section "Time" of gst/docs/common.md. At the frame rates that occur, no decision depends on the
// nanoseconds by which timestamps jitter.
class StreamClock {
 public:
  // Call it for new caps. duration: of a frame, by the caps; 0 if they have no rate.
  void follow_caps(GstClockTime duration);
  // Forgets the earlier frames, as at a flush and where another stream begins.
  void restart();
  // Call it for a segment event: a jump is announced.
  void expect_jump() { announced_ = true; }
  // Call it with every frame. pts: its timestamp or running time, or GST_CLOCK_TIME_NONE. is_discont: it announces a
  // jump as a discontinuity. reverse: timestamps fall.
  Tick next(GstClockTime pts, bool is_discont, bool reverse);
  // The frame duration; 1/30 s if nothing tells it.
  GstClockTime duration() const { return duration_ > 0 ? duration_ : GST_SECOND / 30; }
  bool knows_duration() const { return duration_ > 0; }

 private:
  bool is_ahead(GstClockTime pts) const { return reverse_ ? pts < last_ : pts > last_; }
  GstClockTime distance(GstClockTime pts) const { return pts > last_ ? pts - last_ : last_ - pts; }
  GstClockTime uncounted(GstClockTime pts) const;
  bool follows(GstClockTime pts) const;
  GstClockTime jump_to(GstClockTime pts);
  void learn(GstClockTime distance);
  GstClockTime longest() const;
  double update_duration();

  GstClockTime caps_duration_ = 0, duration_ = 0;
  GstClockTime last_ = GST_CLOCK_TIME_NONE;   // the last timestamp that was not stray, repeated or back
  GstClockTime stray_ = GST_CLOCK_TIME_NONE;  // that of the last frame, if it was stray
  guint64 counted_ = 0;  // the frames since last_, each of which counts as a frame duration
  bool announced_ = false, reverse_ = false;
  std::array<GstClockTime, 15> recent_{};  // the last distances; 0 for those that have not come yet
  std::size_t learned_ = 0;                // the distances that have come
  GstClockTime typical_ = 0;               // their median, when it was last asked for
};

}  // namespace cudavision
