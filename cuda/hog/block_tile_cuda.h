// SPDX-License-Identifier: LGPL-2.1-or-later
// The choice of a tile for the kernels that compute blocks.
#pragma once

#include "cuda/hog/block_tile.cuh"

namespace cudavision::hog {

// Whether the kernel may be compiled with kDefaultParams (block_tile.cuh).
inline bool has_default_params(const Rules &rules, const TilePlan &plan) {
  return with_default_params(rules) == rules && plan.cols_log2 == kDefaultColsLog2;
}

// Chooses tiles that need at most 48 KiB of shared memory. Blocks overlap, so that tall tiles take fewer
// instructions; tiles of few rows take less time, and there are more of them. `blocks` is the number of HOG blocks
// of the picture: the rows are halved while all tiles fit the device at once.
inline TilePlan plan_tiles(const Rules &rules, int channels, Size blocks, int multiprocessors) {
  constexpr std::size_t kMostBytes = 48 * 1024;
  TilePlan plan{
      .cols_log2 = kDefaultColsLog2, .rows_log2 = 3, .width = 0, .height = 0, .items = 0, .shared_bytes = 0};
  const auto tiles = [&plan, blocks](int rows_log2) {
    return divide_up(blocks.width, 1 << plan.cols_log2) * divide_up(blocks.height, 1 << rows_log2);
  };
  const int at_once = tiles_at_once(has_default_params(rules, plan)) * multiprocessors;
  while (multiprocessors > 0 && plan.rows_log2 > 0 && tiles(plan.rows_log2 - 1) <= at_once) --plan.rows_log2;
  for (;;) {
    const int cols = 1 << plan.cols_log2, rows = 1 << plan.rows_log2;
    plan.width = width_of_tile(rules, plan.cols_log2);
    plan.height = (rows - 1) * rules.stride.height + rules.block.height;
    plan.items = items_of_tile(rules, plan.cols_log2);
    const int weights = rules.cells_x * rules.block.width + rules.cells_y * padded_height(rules);
    const int floats = 256 + weights + color_floats(channels) * (kChunkRows + 2) * (plan.width + 2) +
                       2 * kChunkRows * vote_pitch(plan.width) + rules.bins * plan.items +
                       cols * rows * rules.length;
    plan.shared_bytes = static_cast<std::size_t>(floats) * sizeof(float) +
                        static_cast<std::size_t>(kChunkRows * plan.width) * sizeof(VoteBins);
    if (plan.shared_bytes <= kMostBytes) return plan;
    // The loop ends, because a tile of one block of the largest size fits.
    if (plan.rows_log2 > 0)
      --plan.rows_log2;
    else
      --plan.cols_log2;
  }
}

}  // namespace cudavision::hog
