// SPDX-License-Identifier: LGPL-2.1-or-later
// The file that the property state-location names: the counts, which survive a restart of the element.
#pragma once

#include <string>
#include <vector>

#include "cuda/common/status.h"
#include "gst/visionzones/zone_counter.h"

namespace cudavision {

// Reads the counts of the plan's rules, in their order. There are none if there is no file. Fails if the file is of
// another kind, or has the counts of another plan.
Status load_counts(const std::string &location, const ZonePlan &plan, std::vector<ZoneCounts> *counts);
// Replaces the file, unless it is of another kind.
Status save_counts(const std::string &location, const ZonePlan &plan, const std::vector<CountedRule> &rules);

}  // namespace cudavision
