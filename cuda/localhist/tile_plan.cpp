// SPDX-License-Identifier: LGPL-2.1-or-later
// The choice of the CUDA backend's tiles.
#include "cuda/localhist/tile_plan.h"

#include <algorithm>

namespace cudavision::localhist {
namespace {

// Interleaved histograms of at least this many words are written directly to global memory, because
// neighbouring threads then write at least 64 neighbouring bytes.
constexpr int kDirectWords = 16;
constexpr int kMaxWords = 32;  // words of a group: one per lane of a warp
// The fewest rows of a tile. Each tile first counts as many rows of pixels as a window is high.
constexpr int kMinRows = 16;
constexpr int kBlocksPerMultiprocessor = 4;

TilePlan make_plan(const LocalHistParams &p, const LocalHistShape &shape, int positions, int words,
                   int segment) {
  const int per_word = bins_per_word(sums_of(p));
  TilePlan plan;
  plan.cols = std::min(shape.cols, (positions - 1) / p.stride_x + 1);
  plan.positions = (plan.cols - 1) * p.stride_x + 1;
  plan.columns = plan.positions + p.window.width - 1;
  plan.segment = segment;
  plan.group_bins = std::min(p.bins, words * per_word);
  plan.groups = divide_up(p.bins, plan.group_bins);
  plan.words = divide_up(plan.group_bins, per_word) + (needs_total(p) ? 1 : 0);
  plan.column_stride = plan.words | 1;
  const bool direct = p.reduction == LocalHistReduction::none && p.layout == LocalHistLayout::interleaved &&
                      plan.words >= kDirectWords;
  plan.stage_stride = direct ? 0 : (plan.words * per_word) | 1;
  return plan;
}

// Estimates the accesses to shared memory per window and bin. The threads of a block work in rounds.
double cost_of(const TilePlan &plan, const LocalHistParams &p, const DeviceLimits &limits) {
  const int start = p.window.width / plan.segment + p.window.width % plan.segment;
  const int rounds = divide_up(divide_up(plan.positions, plan.segment) * plan.words, kBlockThreads);
  double cost = 8.0 * divide_up(plan.columns, kBlockThreads) * p.stride_y +
                rounds * (start + 2.0 * std::min(plan.segment, plan.positions));
  if (plan.stage_stride != 0) cost += 4.0 * divide_up(plan.cols * plan.group_bins, kBlockThreads);
  if (2 * plan.shared_bytes() > limits.shared_bytes) cost *= 1.5;  // only one block fits: its barriers stall
  return cost * plan.groups / plan.cols;
}

int choose_rows(const TilePlan &plan, const LocalHistParams &p, const LocalHistShape &shape,
                const DeviceLimits &limits) {
  const int z = p.reduction == LocalHistReduction::none ? plan.groups : 1;
  const int strips =
      divide_up(kBlocksPerMultiprocessor * limits.multiprocessors, divide_up(shape.cols, plan.cols) * z);
  return std::min(shape.rows, std::max(kMinRows, divide_up(shape.rows, strips)));
}

}  // namespace

std::size_t TilePlan::shared_bytes() const {
  const auto product = [](int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); };
  return sizeof(unsigned) * (product(columns, column_stride) + product(divide_up(columns, segment), words) +
                             product(cols, stage_stride));
}

TilePlan plan_tiles(const LocalHistParams &params, const LocalHistShape &shape, const DeviceLimits &limits) {
  const int all_words = divide_up(params.bins, bins_per_word(sums_of(params)));
  TilePlan best;
  double least = 0;
  for (int groups = divide_up(all_words, kMaxWords); groups <= all_words; groups *= 2)
    for (const int positions : {32, 64, 128, 256})
      for (const int segment : {4, 8, 16, 32}) {
        const TilePlan plan = make_plan(params, shape, positions, divide_up(all_words, groups), segment);
        if (plan.shared_bytes() > limits.shared_bytes) continue;
        const double cost = cost_of(plan, params, limits);
        if (best.cols != 0 && cost >= least) continue;
        best = plan;
        least = cost;
      }
  best.rows = choose_rows(best, params, shape, limits);
  return best;
}

}  // namespace cudavision::localhist
