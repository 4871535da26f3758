// SPDX-License-Identifier: LGPL-2.1-or-later
// The union of rectangles, as rectangles that do not overlap: what the threads of the CPU backend work on.
#pragma once

#include "cuda/common/image.h"
#include "cuda/common/memory_budget.h"
#include "cuda/hog/hog_detector_rules.h"

namespace cudavision::hog {

class Parts {
 public:
  // Forgets all rectangles, and begins a union of rectangles.
  void begin() { whole_.clear(), edges_.clear(), parts_.clear(); }
  // Adds a rectangle to the union; an empty one is ignored.
  void add(const Region &region);
  // Ends the union: parts() then covers every element of the union once, by rectangles of at most most_rows rows.
  void end(int most_rows);
  const Array<Region> &parts() const { return parts_; }

 private:
  // Sets intervals_ to the intervals of the union in row y, from left to right.
  void find_intervals(int y);

  Array<Region> whole_, parts_;
  Array<int> edges_;  // the rows in which rectangles begin and end
  Array<Interval> intervals_;
};

}  // namespace cudavision::hog
