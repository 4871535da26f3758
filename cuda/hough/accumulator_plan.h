// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables of the accumulator that the host computes for one image size and one set of parameters. Both
// backends use them.
#pragma once

#include <cstddef>
#include <vector>

#include "cuda/hough/hough_rules.h"

namespace cudavision::hough {

struct AccumulatorPlan {
  std::vector<Angle> angles;
  int rho_count = 0;
  int stride = 0;                 // see Accumulator
  bool covers_half_turn = false;  // see Accumulator
  float rho = 0;

  std::size_t cells() const { return angles.size() * static_cast<std::size_t>(stride); }
  // The maximum number of peaks: of two neighbouring cells in a row at most one is a peak.
  std::size_t max_peaks() const { return cells() / 2; }
};

// Fails if the accumulator has more cells than an int can number, or more than 2 GiB of votes.
Status make_accumulator_plan(Size size, const HoughParams &params, AccumulatorPlan *plan);

// The angles that each gradient direction votes for: kDirections + 1 elements; the last one, for
// kNoDirection, contains all angles.
std::vector<AngleIntervals> gradient_intervals_of(const AccumulatorPlan &plan);

// Returns true if both sets of parameters have the same plan.
bool same_plan(const HoughParams &a, const HoughParams &b);

// angles, votes: the arrays of the plan in the backend's memory.
Accumulator accumulator_of(const AccumulatorPlan &plan, Size size, const Angle *angles, std::uint32_t *votes);

}  // namespace cudavision::hough
