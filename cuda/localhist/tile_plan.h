// SPDX-License-Identifier: LGPL-2.1-or-later
// The tiles of the CUDA backend: how the map of windows is divided among blocks. Pure arithmetic, without
// CUDA.
#pragma once

#include <cstddef>

#include "cuda/localhist/localhist_rules.h"

namespace cudavision::localhist {

constexpr int kBlockThreads = 256;

// A tile has cols x rows windows of the map, and one group of bins of each of them. Shared memory holds, in
// words of 32 bits, the histogram of each pixel column that the windows cover, the sums over each group of
// `segment` neighbouring columns, and a staging area for one row of results unless they are written directly
// to global memory.
struct TilePlan {
  int cols = 0, rows = 0;  // of windows
  int positions = 0;  // pixels from the left edge of the first window to that of the last one, both included
  int columns = 0;    // pixels from the left edge of the first window to the right edge of the last one
  int segment = 0;    // positions that one thread slides over
  int group_bins = 0, groups = 0;  // bins of a group (the last one can have fewer); number of groups
  int words = 0;                   // words that hold the bins of a group, and the total if it is needed
  int column_stride = 0;           // words from one column to the next; odd, to avoid bank conflicts
  int stage_stride = 0;            // words from one staged window to the next; odd; 0: no staging
  std::size_t shared_bytes() const;

  friend bool operator==(const TilePlan &, const TilePlan &) = default;
};

// The properties of a device that a plan depends on.
struct DeviceLimits {
  int multiprocessors = 1;
  std::size_t shared_bytes = 48 << 10;  // per block
};

// Two bins of counts share a word of a column; a bin of weights takes a whole word.
constexpr int bins_per_word(SumKind sums) {
  return sums == SumKind::counts16 || sums == SumKind::counts32 ? 2 : 1;
}
// The plan with the fewest estimated accesses to shared memory per window and bin.
TilePlan plan_tiles(const LocalHistParams &params, const LocalHistShape &shape, const DeviceLimits &limits);

}  // namespace cudavision::localhist
