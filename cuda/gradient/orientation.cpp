// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the directions of the edges of orientation bins.
#include "cuda/gradient/orientation_rules.h"

#include <cmath>
#include <numbers>

namespace cudavision {

OrientationTable make_orientation_table(int bins) {
  constexpr long double kOne = 1LL << 50;
  OrientationTable table;
  table.bins = bins;
  table.scale = static_cast<float>(bins);
  table.safe_distance = 0.5f - kTurnMargin * table.scale;
  for (int k = 0; k <= bins; ++k)
    table.sine[k] = std::llround(kOne * std::sin(std::numbers::pi_v<long double> / 2 * k / bins));
  return table;
}

}  // namespace cudavision
