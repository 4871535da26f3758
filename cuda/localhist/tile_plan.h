// SPDX-License-Identifier: LGPL-2.1-or-later
// The tiles of the CUDA backend: how the windows of a picture are divided among blocks. Pure arithmetic, without CUDA.
#pragma once

#include <cstddef>

#include "cuda/localhist/localhist_rules.h"

namespace cudavision::localhist {

constexpr int kMaxBlockThreads = 256;

// The rows of pixels of a strip, the strips of a group, and the rows of pixels of a group (StripSums, column_tile.cuh).
constexpr int kStripRows = 8, kGroupStrips = 8, kGroupRows = kGroupStrips * kStripRows;

// How a block writes a row of results.
enum class RowOutput {
  direct,   // each thread writes its bins to global memory
  staged,   // through shared memory, where a row is laid out as in the output and then copied
  reduced,  // through shared memory, one word for each bin; then one thread reduces each window
};

// A tile has cols x rows windows. A block computes one group of bins of each of them, or, with a reduction, all groups
// one after another. Shared memory holds, in words of 32 bits, the histogram of each pixel column that the windows
// cover, the sums over each span of neighbouring columns, and one row of results unless they are written directly. A
// thread slides over a segment, a run of neighbouring windows of a row, with one word of bins.
struct TilePlan {
  int threads = 0;          // of a block
  int cols = 0, rows = 0;   // of windows
  int columns = 0;          // pixels from the left edge of the first window to the right edge of the last one
  int segment = 0;          // windows that one thread slides over
  int segments = 0;         // segments in a row of the tile
  int span = 0;             // pixels from one segment to the next
  int spans_of_window = 0;  // the first window of a segment begins with the sums of this many spans
  int group_bins = 0, groups = 0;  // bins of a group (the last one can have fewer); number of groups
  int words = 0;                   // words that hold the bins of a group, and the total if it is needed
  int column_stride = 0;           // words from one column to the next; odd, to avoid bank conflicts
  RowOutput output = RowOutput::direct;
  int stage_stride = 0;      // words from one window to the next if output is `reduced`; odd
  bool sums_strips = false;  // the columns of a tile are computed from StripSums
  // Where the parts of shared memory begin: the columns come first, then the sums over spans, then the row of results.
  int spans_offset = 0, stage_offset = 0;  // in words; stage_offset is a multiple of 16 bytes
  int stage_bytes = 0;

  std::size_t shared_bytes() const {
    return sizeof(unsigned) * static_cast<std::size_t>(stage_offset) + static_cast<std::size_t>(stage_bytes);
  }

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
// The words of a column with all bins, and the sum of all bins if that is needed.
inline int words_of_column(const LocalHistParams &params) {
  return divide_up(params.bins, bins_per_word(sums_of(params))) + (needs_total(params) ? 1 : 0);
}
// Whether to compute columns from sums over strips: if windows are high, and the sums take at most 8 bytes per pixel.
inline bool wants_strips(const LocalHistParams &params) {
  return params.window.height >= kGroupRows && words_of_column(params) <= 16;
}
// The size of StripSums::sums in words.
inline std::size_t strip_words(const LocalHistParams &params, Size picture) {
  return static_cast<std::size_t>(picture.height / kStripRows) *
         static_cast<std::size_t>(words_of_column(params)) * static_cast<std::size_t>(picture.width);
}
// The plan with the least estimated time.
TilePlan plan_tiles(const LocalHistParams &params, const LocalHistShape &shape, const DeviceLimits &limits);

}  // namespace cudavision::localhist
