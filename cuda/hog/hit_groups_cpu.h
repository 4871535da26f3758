// SPDX-License-Identifier: LGPL-2.1-or-later
// Grouping of hits on the CPU.
#pragma once

#include <vector>

#include "cuda/hog/hog_detector.h"

namespace cudavision::hog {

// The boxes of the groups of more than `threshold` hits, ordered by the first hits of the groups. A group is
// a connected component of similar hits (are_similar() in hog_detector_rules.h); a box that gives_way() to
// another one is left out.
std::vector<HogBox> group_hits(const std::vector<HogBox> &hits, int threshold);

// The best hits of the groups of more than `threshold` hits, by non-maximum suppression (HogGrouping::best).
std::vector<HogBox> best_hits(std::vector<HogBox> hits, const HogThresholds &thresholds);

}  // namespace cudavision::hog
