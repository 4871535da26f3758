// SPDX-License-Identifier: LGPL-2.1-or-later
// How the CUDA backend cuts the map of windows into tiles, one for each block: numbers alone, apart from the
// algorithm.
#pragma once

#include <cstddef>

#include "cuda/localhist/localhist_rules.h"

namespace cudavision::localhist {

constexpr int kBlockThreads = 256;

// A tile: windows of cols x rows of the map, and of each of them the bins of one group. Shared memory, in
// words of 32 bits: the histogram of each pixel column that the windows touch, its sums over `segment`
// neighbouring columns, and one row of results where those do not go straight to global memory.
struct TilePlan {
  int cols = 0, rows = 0;          // of the map
  int positions = 0, columns = 0;  // pixels from the first window's left end to the last's; to the right end
  int segment = 0;                 // positions that one thread slides over
  int group_bins = 0, groups = 0;  // bins of a group; of the last one fewer
  int words = 0;                   // that hold a group's bins, and the total where it is needed
  int column_stride = 0;           // words from one column to the next: odd, against bank conflicts
  int stage_stride = 0;            // words from one window's results to the next's: odd, or 0: no staging
  std::size_t shared_bytes() const;

  friend bool operator==(const TilePlan &, const TilePlan &) = default;
};

// What a device has.
struct DeviceLimits {
  int multiprocessors = 1;
  std::size_t shared_bytes = 48 << 10;  // of a block
};

// Two bins share a word of a column's counts; weights have one each.
constexpr int bins_per_word(SumKind sums) {
  return sums == SumKind::counts16 || sums == SumKind::counts32 ? 2 : 1;
}
// The plan that needs the fewest accesses to shared memory for each window and bin.
TilePlan plan_tiles(const LocalHistogramParams &params, const LocalHistogramShape &shape,
                    const DeviceLimits &limits);

}  // namespace cudavision::localhist
