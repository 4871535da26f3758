// SPDX-License-Identifier: LGPL-2.1-or-later
// Changes of the light: when cudabgsub is blind because all that it sees differs from its background, and how fast it
// learns then.
#pragma once

#include <gst/gst.h>

#include <algorithm>

#include "gst/bgsub/bgsub_settings.h"

namespace cudavision {

// The light has changed if more than max-motion of the region moves. The new light is learnt until less than a quarter
// of that moves: where it is learnt unevenly, half of the picture would be found as one object. The element stays blind
// for half as long again, because where people walked meanwhile, the new light was seen later, and would be found as
// their trail. It is blind for blind-time at most. If more than max-motion moves for longer, it is not the light: the
// camera moves, or something large stands before it, and what moves is told again.
class LightChange {
 public:
  void restart() { state_ = State::none; }
  bool is_blind() const { return state_ == State::blind; }
  bool lasts_too_long() const { return state_ == State::too_long; }

  // The least learning rate of the next frame; 0 without a change. passed: since the last frame. Frames whose rates add
  // up to a leave exp(-a) of the old background's weight at most. If that is the background ratio r, the new picture is
  // background, too; 1/r - 1 >= -ln(r). So a picture that stands still is learnt in half of blind-time.
  double least_rate(const BgsubSettings &settings, GstClockTime passed) const {
    if (state_ == State::none) return 0;
    const double half = settings.blind_time / 2 * GST_SECOND,
                 ratio = std::max(settings.background_ratio, 0.1);
    return std::min((1 / ratio - 1) * static_cast<double>(passed) / half, kMostRate);
  }

  // Takes the share of the region that moves in a frame. passed: since the frame before it.
  void take(double share, const BgsubSettings &settings, GstClockTime passed) {
    const auto longest = static_cast<GstClockTime>(settings.blind_time * GST_SECOND);
    const bool is_much = share > settings.max_motion, is_learnt = share <= settings.max_motion / 4;
    if (state_ == State::none) {
      if (is_much && longest > 0) state_ = State::blind, lasted_ = learnt_ = 0;
      return;
    }
    lasted_ += passed;
    learnt_ = is_learnt ? learnt_ + passed : 0;
    if (lasted_ >= longest)
      state_ = is_much ? State::too_long : State::none;
    else if (learnt_ >= (lasted_ - learnt_) / 2 && is_learnt)
      state_ = State::none;
  }

 private:
  static constexpr double kMostRate = 0.5;
  enum class State { none, blind, too_long };

  State state_ = State::none;
  GstClockTime lasted_ = 0, learnt_ = 0;  // since the change began, and since all but a little is learnt
};

}  // namespace cudavision
