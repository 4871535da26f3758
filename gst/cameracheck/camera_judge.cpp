// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cameracheck/camera_judge.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cudavision {
namespace {

constexpr double kSamePlace = 0.7;   // a frame that keeps so many edges fits without doubt,
constexpr double kKnownPlace = 0.5;  // one with so many can be compared,
constexpr double kNoPlace = 0.4;     // and one with fewer shows something else
constexpr double kHalfFitTime = 60;  // a look that fits half for so long is learnt as the other one
constexpr double kSearchTime = 0.2, kLearnStep = 0.5;  // seconds between two searches and two steps
constexpr std::size_t kSamples = 16;
constexpr int kStep = 1;                  // units of a look, in each kLearnStep: a level in half a minute
constexpr double kUsualStep = 0.0005;     // of the usual values, in each kLearnStep: six per cent a minute
constexpr int kStillLevels = 2;           // by which a cell may change in a picture that stands still,
constexpr double kStillShare = 1e-5;      // the share of pixels that may change in a frame without noise,
constexpr double kQuietTime = 1;          // and the seconds over which the share of such frames is averaged
constexpr int kBright = 230;              // the least luma of a pixel that is burnt out,
constexpr int kBurntLevels = 3;           // and how little it differs from the brightest one
constexpr double kTurn = 0.05;            // part of the brightness that makes a turn
constexpr std::size_t kFlickerTurns = 4;  // in a second
constexpr double kNoiseShare = 0.3, kNoiseRatio = 4;  // of the pixels that change

void step_towards(double *usual, double value, double least) {
  const double step = std::max(*usual * kUsualStep, least * kUsualStep);
  *usual += std::clamp(value - *usual, -step, step);
}

// The value that this share of the pixels does not exceed.
int quantile(const JudgedFrame &f, double share) {
  auto left = static_cast<std::int64_t>(share * static_cast<double>(f.pixels));
  int value = 0;
  while (value < 255 && (left -= f.numbers.histogram[value]) > 0) ++value;
  return value;
}

// The means of a frame over its pixels.
double brightness_of(const JudgedFrame &f) {
  double sum = 0;
  for (int v = 0; v < 256; ++v) sum += v * static_cast<double>(f.numbers.histogram[v]);
  return sum / static_cast<double>(f.pixels);
}
double sharpness_of(const JudgedFrame &f) {
  return std::max(0.0, static_cast<double>(f.numbers.sums.laplacian_common) / static_cast<double>(f.pixels));
}
double noise_of(const JudgedFrame &f) {
  return static_cast<double>(f.numbers.sums.difference) /
         static_cast<double>(std::max<std::int64_t>(1, f.pixels - f.numbers.sums.changed));
}

double length_of(const CameraFit &fit) { return std::hypot(fit.shift_x, fit.shift_y); }

}  // namespace

const std::vector<CameraEvent> &CameraJudge::take(const JudgedFrame &frame, const JudgeSettings &settings) {
  events_.clear();
  settings_ = settings, passed_ = frame.passed;
  now_ += passed_;
  measures_ = {};
  measures_.changed = static_cast<double>(frame.numbers.sums.changed) / static_cast<double>(frame.pixels);
  measures_.brightness = brightness_of(frame);
  measure_light(frame);
  follow_stillness(frame);
  follow_flicker();
  const CameraFit fit = this->fit(frame);
  judge_view(frame, fit);
  learn(frame, fit);
  return events_;
}

void CameraJudge::jump() {
  for (Hold &hold : holds_) hold.pending = -1;
  still_ = quiet_ = 0;
  extreme_ = -1;
  turns_.clear();
}

void CameraJudge::hold(Trouble trouble, std::optional<bool> is_bad, double measure,
                       std::optional<double> begins_after) {
  Hold &hold = holds_[index(trouble)];
  if (hold.is_on) hold.lasted += passed_, hold.worst = std::max(hold.worst, measure);
  if (!is_bad || *is_bad == hold.is_on) {
    hold.pending = -1;
    return;
  }
  hold.pending = hold.pending < 0 ? 0 : hold.pending + passed_;
  if (hold.pending < (hold.is_on ? settings_.hysteresis : begins_after.value_or(settings_.hysteresis)))
    return;
  CameraEvent event{.trouble = trouble, .begins = !hold.is_on, .measure = measure, .ago = hold.pending};
  if (hold.is_on) event.measure = hold.worst, event.duration = hold.lasted - hold.pending;
  if (trouble == Trouble::moved && measures_.kept_share >= kKnownPlace && event.begins)
    event.has_shift = true, event.shift_x = measures_.shift_x, event.shift_y = measures_.shift_y;
  events_.push_back(event);
  hold = {.is_on = event.begins, .pending = -1, .worst = measure, .lasted = hold.pending};
}

void CameraJudge::measure_light(const JudgedFrame &frame) {
  const int nearly_all = quantile(frame, 0.95), middle = quantile(frame, 0.5);
  hold(Trouble::dark, nearly_all < settings_.dark_level, (255 - nearly_all) / 255.0);
  const bool is_burnt = middle >= kBright && middle >= quantile(frame, 0.999) - kBurntLevels;
  hold(Trouble::bright, is_burnt, middle / 255.0);
}

// A picture is frozen if no cell changes for frozen-time, and mostly its noise is missing, too: a codec repeats a
// picture, and makes a little noise with each key frame.
void CameraJudge::follow_stillness(const JudgedFrame &frame) {
  const auto is_near = [](int a, int b) { return std::abs(a - b) <= kStillLevels; };
  const bool is_quiet = frame.has_before && measures_.changed <= kStillShare &&
                        noise_of(frame) <= std::max(looks_[current_].noise / 4, 0.02);
  quiet_ += ((is_quiet ? 1 : 0) - quiet_) * std::min(1.0, passed_ / kQuietTime);
  if (quiet_ >= 0.5 && std::ranges::equal(frame.picture.cells, still_cells_, is_near)) {
    still_ += passed_;
  } else {
    still_cells_.assign(frame.picture.cells.begin(), frame.picture.cells.end());
    still_ = 0;
  }
  const bool is_frozen = still_ >= settings_.frozen_time;
  hold(Trouble::frozen, is_frozen, still_, 0);
  if (is_frozen && !events_.empty() && events_.back().trouble == Trouble::frozen) events_.back().ago = still_;
}

void CameraJudge::follow_flicker() {
  const double light = measures_.brightness;
  if (extreme_ < 0) extreme_ = light;
  const double turn = std::max(1.0, kTurn * extreme_);
  if (rises_ ? light > extreme_ : light < extreme_) extreme_ = light;
  if (rises_ ? light < extreme_ - turn : light > extreme_ + turn) {
    turns_.push_back(now_);
    rises_ = !rises_, extreme_ = light;
  }
  while (!turns_.empty() && turns_.front() < now_ - 1) turns_.pop_front();
  // It has flickered since the first of these turns.
  const double turns = static_cast<double>(turns_.size()), since = turns_.empty() ? 0 : now_ - turns_.front();
  hold(Trouble::flicker, exceeds(Trouble::flicker, turns, kFlickerTurns), turns,
       std::max(0.0, settings_.hysteresis - since));
}

bool CameraJudge::is_in_place(const CameraFit &fit) const {
  return fit.kept >= kSamePlace && length_of(fit) < settings_.shift;
}

// The fit with the look that the frame fits better: without a shift, if there is one.
CameraFit CameraJudge::fit(const JudgedFrame &frame) {
  if (!looks_[current_].is_learnt()) return {};
  CameraFit best = looks_[current_].compare(frame.picture, false);
  if (is_in_place(best)) return best;
  const bool searches = now_ - searched_ >= kSearchTime;
  if (searches) searched_ = now_;
  if (searches) best = looks_[current_].compare(frame.picture, true);
  if (CameraLook &other = looks_[1 - current_]; other.is_learnt()) {
    const CameraFit own = other.compare(frame.picture, searches);
    const bool fits = is_in_place(own), is_better = fits != is_in_place(best) ? fits : own.kept > best.kept;
    if (own.is_known && is_better) best = own, current_ = 1 - current_;
  }
  return best;
}

void CameraJudge::judge_view(const JudgedFrame &frame, const CameraFit &fit) {
  const CameraLook &look = looks_[current_];
  const bool is_here = fit.kept >= kKnownPlace;
  std::optional<bool> covered, defocused, moved, noisy;
  const double length = is_here ? length_of(fit) : 0;
  double blur = 1;
  if (fit.is_known) {
    measures_.is_learnt = true;
    measures_.covered_share = fit.flat, measures_.kept_share = fit.kept;
    covered = !is_here && exceeds(Trouble::covered, fit.flat, settings_.covered_share);
    if (!*covered && fit.kept < kNoPlace) moved = true;
  }
  if (is_here) {
    measures_.shift_x = fit.shift_x, measures_.shift_y = fit.shift_y;
    moved = exceeds(Trouble::moved, length, settings_.shift);
    noisy = !is_on(Trouble::flicker) &&
            exceeds(Trouble::noise, measures_.changed, std::max(kNoiseShare, kNoiseRatio * look.changed));
  }
  if (is_here && frame.has_before) {
    measures_.sharpness = sharpness_of(frame) / std::max(look.sharpness * fit.gain * fit.gain, 1e-3);
    blur = 1 / std::max(measures_.sharpness, 1e-3);
    defocused = exceeds(Trouble::defocused, blur, 1 / settings_.least_sharpness);
  }
  // A view that is gone is covered or moved. The name may change from frame to frame, and the last frame gives it.
  const auto is_told = [this] { return is_on(Trouble::covered) || is_on(Trouble::moved); };
  const bool is_flat = covered.value_or(false),
             is_gone = !is_here && (is_flat || moved.value_or(false)) && !is_told();
  const auto unless = [&](bool named) { return is_gone && !named ? std::optional(HUGE_VAL) : std::nullopt; };
  hold(Trouble::covered, is_gone ? true : covered, fit.flat, unless(is_flat));
  hold(Trouble::moved, is_gone ? true : moved, length, unless(!is_flat));
  if (is_gone && is_told())
    holds_[index(Trouble::covered)].pending = holds_[index(Trouble::moved)].pending = -1;
  hold(Trouble::defocused, defocused, blur);
  hold(Trouble::noise, noisy, measures_.changed);
}

bool CameraJudge::is_calm() const {
  return std::ranges::all_of(holds_, [](const Hold &hold) { return !hold.is_on && hold.pending < 0; });
}

void CameraJudge::begin_learning(std::size_t look) {
  learning_ = look;
  samples_.clear(), sharpness_.clear(), changed_.clear(), noise_.clear();
  collected_ = half_fits_ = 0;
}

void CameraJudge::learn(const JudgedFrame &frame, const CameraFit &fit) {
  if (!frame.has_before) return;
  if (!looks_[current_].is_learnt() && !learning_) begin_learning(current_);
  const Hold &moved = holds_[index(Trouble::moved)];
  const bool moved_for_long =
      moved.is_on && settings_.relearn_time > 0 && moved.lasted >= settings_.relearn_time;
  if (learning_ && is_in_place(fit)) learning_.reset();  // a view that is known has come back
  if (!learning_ && moved_for_long) begin_learning(1 - current_);
  if (learning_) {
    if (is_calm() || moved_for_long) collect(frame);
    return;
  }
  if (!is_calm() || !fit.is_known) return;
  const bool fits_half = fit.kept < kSamePlace && fit.kept > kNoPlace;
  half_fits_ = std::max(0.0, half_fits_ + (fits_half ? passed_ : -passed_));
  if (half_fits_ >= kHalfFitTime && fit.flat < settings_.covered_share / 2) begin_learning(1 - current_);
  stepped_ += passed_;
  if (stepped_ < kLearnStep || fit.kept < kSamePlace) return;
  stepped_ = 0;
  CameraLook &look = looks_[current_];
  look.approach(frame.picture, kStep);
  step_towards(&look.sharpness, sharpness_of(frame) / std::max(fit.gain * fit.gain, 0.1), 1);
  step_towards(&look.changed, measures_.changed, 0.01);
  step_towards(&look.noise, noise_of(frame), 0.1);
}

void CameraJudge::collect(const JudgedFrame &frame) {
  collected_ += passed_;
  if (collected_ < settings_.learn_time / kSamples * static_cast<double>(samples_.size() + 1)) return;
  samples_.emplace_back(frame.picture.cells.begin(), frame.picture.cells.end());
  sharpness_.push_back(sharpness_of(frame));
  changed_.push_back(measures_.changed);
  noise_.push_back(noise_of(frame));
  if (samples_.size() < kSamples) return;
  CameraLook look;
  look.learn(samples_, frame.picture.size);
  look.sharpness = median(sharpness_), look.changed = median(changed_), look.noise = median(noise_);
  if (look.is_learnt() || !looks_[current_].is_learnt()) {  // never a known view by nothing
    current_ = *learning_;
    looks_[current_] = std::move(look);
  }
  samples_.clear();
  learning_.reset();
}

}  // namespace cudavision
