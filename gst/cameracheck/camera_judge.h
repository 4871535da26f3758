// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides from the statistics of frames what is wrong with a camera. It learns what is usual, slowly and by time, and
// keeps two looks, such as that of the day and that of the night with the camera's own lamp: a frame may fit either.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "cuda/camerastats/camerastats.h"
#include "gst/cameracheck/camera_look.h"

namespace cudavision {

enum class Trouble { covered, defocused, moved, frozen, dark, bright, flicker, noise, lost };
constexpr int kTroubles = 9;
constexpr const char *kTroubleNames[kTroubles] = {"covered", "defocused", "moved", "frozen", "dark",
                                                  "bright",  "flicker",   "noise", "lost"};

// With these, what a frame shows is not what the camera usually sees now.
constexpr Trouble kBlinding[] = {Trouble::covered, Trouble::moved, Trouble::frozen};

// The level of noise for CameraStats: a pixel that differs by more has changed.
constexpr int kNoiseLevel = 16;

// Times in seconds.
struct JudgeSettings {
  double hysteresis = 2;
  double learn_time = 10;
  double relearn_time = 300;  // 0: never
  double frozen_time = 30;
  double covered_share = 0.75;
  double least_sharpness = 0.33;
  double shift = 2;  // pixels
  int dark_level = 40;

  friend bool operator==(const JudgeSettings &, const JudgeSettings &) = default;
};

struct CameraEvent {
  Trouble trouble = Trouble::lost;
  bool begins = false;
  double measure = 0;   // how bad it is, or was at worst; see cudacameracheck.md
  double ago = 0;       // since it began or ended
  double duration = 0;  // of an end: since its begin
  bool has_shift = false;
  double shift_x = 0, shift_y = 0;  // pixels
};

struct JudgedFrame {
  const CameraNumbers &numbers;
  CellPicture picture;
  std::int64_t pixels;
  double passed;    // since the last frame, in seconds
  bool has_before;  // the numbers compare it with the frame before
};

// What a frame showed, for messages.
struct CameraMeasures {
  bool is_learnt = false;
  double sharpness = 1;  // relative to what is usual
  double covered_share = 0, kept_share = 1, changed = 0, brightness = 0;
  double shift_x = 0, shift_y = 0;
};

class CameraJudge {
 public:
  // Takes the next frame; all have one size. The events are valid until the next call.
  const std::vector<CameraEvent> &take(const JudgedFrame &frame, const JudgeSettings &settings);
  // The next frame does not follow the last one: nothing that is pending is continued.
  void jump();

  bool is_on(Trouble trouble) const { return holds_[index(trouble)].is_on; }
  const CameraMeasures &measures() const { return measures_; }
  // Whether it has looked for long enough, but the view has too few edges to be learnt.
  bool lacks_edges() const { return !looks_[current_].means().empty() && !looks_[current_].is_learnt(); }
  // What was learnt.
  std::array<CameraLook, 2> &looks() { return looks_; }

 private:
  // A trouble with its hysteresis by time.
  struct Hold {
    bool is_on = false;
    double pending = -1;  // for how long it has been otherwise than told; negative: not at all
    double worst = 0, lasted = 0;
  };
  static std::size_t index(Trouble trouble) { return static_cast<std::size_t>(trouble); }

  void measure_light(const JudgedFrame &frame);
  void follow_stillness(const JudgedFrame &frame);
  void follow_flicker();
  CameraFit fit(const JudgedFrame &frame);
  void judge_view(const JudgedFrame &frame, const CameraFit &fit);
  // Tells the trouble when `is_bad` has differed from what was told for the hysteresis, or its begin after that time;
  // unknown: nothing changes.
  void hold(Trouble trouble, std::optional<bool> is_bad, double measure,
            std::optional<double> begins_after = {});
  // Whether a measure is bad: one that is told already must fall below two thirds of the limit.
  bool exceeds(Trouble trouble, double measure, double limit) const {
    return measure >= (is_on(trouble) ? limit * 2 / 3 : limit);
  }
  bool is_calm() const;
  bool is_in_place(const CameraFit &fit) const;
  void learn(const JudgedFrame &frame, const CameraFit &fit);
  void collect(const JudgedFrame &frame);
  void begin_learning(std::size_t look);

  JudgeSettings settings_;
  double passed_ = 0;  // since the last frame
  std::array<CameraLook, 2> looks_;
  std::size_t current_ = 0;
  std::array<Hold, kTroubles> holds_;
  std::vector<CameraEvent> events_;
  CameraMeasures measures_;
  double now_ = 0, searched_ = -1;

  double still_ = 0;                       // for how long no cell has changed
  std::vector<std::uint8_t> still_cells_;  // since then
  double quiet_ = 0;                       // the share of recent frames without noise
  double extreme_ = -1;                    // the last maximum or minimum of the brightness
  bool rises_ = false;
  std::deque<double> turns_;  // when the brightness turned in the last second

  // Learning.
  std::optional<std::size_t> learning_;  // the look that is being learnt
  std::vector<std::vector<std::uint8_t>> samples_;
  std::vector<double> sharpness_, changed_, noise_;
  double collected_ = 0, stepped_ = 0, half_fits_ = 0;
};

}  // namespace cudavision
