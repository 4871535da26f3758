// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/localhist/tile_plan.h"

#include <algorithm>

namespace cudavision::localhist {
namespace {

// Interleaved histograms of at least this many words are written directly to global memory, because
// neighbouring threads then write at least 64 neighbouring bytes.
constexpr int kDirectWords = 16;
// The most columns of a span. The sums over a span must fit 32 bits, or 16 bits for each bin of counts.
constexpr int kMaxSpan = 32;
constexpr int kMaxThreadsOfMultiprocessor = 1024;  // limited by the registers of slide_windows_kernel

int element_bytes(const LocalHistShape &shape) { return shape.element == LocalHistElementType::u16 ? 2 : 4; }

RowOutput output_of(const LocalHistParams &p, const TilePlan &plan) {
  if (p.reduction != LocalHistReduction::none) return RowOutput::reduced;
  const bool is_wide = plan.words >= kDirectWords || plan.groups > 1;
  return p.layout == LocalHistLayout::interleaved && is_wide ? RowOutput::direct : RowOutput::staged;
}

// Divides `count` things into the fewest equal parts of at most `most` things; returns the size of a part, rounded up.
int equal_part(int count, int most) { return divide_up(count, divide_up(count, most)); }

TilePlan make_plan(const LocalHistParams &p, const LocalHistShape &shape, int words, int threads, int segment,
                   int segments) {
  const int per_word = bins_per_word(sums_of(p));
  TilePlan plan;
  plan.threads = threads;
  plan.segment = segment;
  plan.segments = equal_part(divide_up(shape.cols, segment), segments);
  plan.cols = std::min(shape.cols, plan.segments * segment);
  plan.columns = (plan.cols - 1) * p.stride_x + p.window.width;
  plan.span = segment * p.stride_x;
  plan.spans_of_window = plan.span <= kMaxSpan ? p.window.width / plan.span : 0;
  plan.group_bins = std::min(p.bins, words * per_word);
  plan.groups = divide_up(p.bins, plan.group_bins);
  plan.words = divide_up(plan.group_bins, per_word) + (needs_total(p) ? 1 : 0);
  plan.column_stride = plan.words | 1;
  plan.sums_strips = plan.groups == 1 && wants_strips(p);
  // slide_by_one() loads a column more than it uses.
  plan.spans_offset = (plan.columns + 1) * plan.column_stride;
  const int spans = plan.spans_of_window > 0 ? divide_up(plan.columns, plan.span) : 0;
  plan.stage_offset = divide_up(plan.spans_offset + spans * plan.words, 4) * 4;
  plan.output = output_of(p, plan);
  if (plan.output == RowOutput::reduced) {
    plan.stage_stride = (plan.words * per_word) | 1;
    plan.stage_bytes = plan.cols * plan.stage_stride * 4;
  }
  // The staged row begins as far after a multiple of 16 bytes as its destination in global memory (stage_shift()), so
  // it needs up to 16 bytes more.
  if (plan.output == RowOutput::staged)
    plan.stage_bytes = 16 + plan.cols * plan.group_bins * element_bytes(shape);
  return plan;
}

// Estimates the instructions that a thread executes before the first row of a tile.
double cost_of_count(const TilePlan &plan, const LocalHistParams &p) {
  // On average kStripRows rows of a window, counted one by one, lie in strips that the window covers only in part.
  const double column = plan.sums_strips
                            ? 19.0 * kStripRows + 4.0 * plan.words * (3 + p.window.height / kGroupRows)
                            : 19.0 * p.window.height;
  return 100 + column * divide_up(plan.columns, plan.threads);
}

// Estimates the instructions that a thread executes for a row of a tile.
double cost_of_row(const TilePlan &plan, const LocalHistParams &p) {
  constexpr double kOverhead = 120, kMove = 50, kAdd = 3, kCopy = 20;
  const auto rounds = [&plan](int count) { return static_cast<double>(divide_up(count, plan.threads)); };
  double cost = kOverhead + kMove * p.stride_y * rounds(plan.columns);
  if (plan.spans_of_window > 0)
    cost += (10 + kAdd * plan.span) * divide_up(divide_up(plan.columns, plan.span), plan.segments);
  cost += kAdd * (plan.spans_of_window + p.window.width - plan.spans_of_window * plan.span);
  cost += plan.segment * (5 + 6.0 * p.stride_x);
  if (plan.output == RowOutput::staged)
    cost += kCopy *
            rounds(p.layout == LocalHistLayout::planar ? plan.cols * plan.group_bins : plan.stage_bytes / 16);
  if (plan.output == RowOutput::reduced) cost += kCopy * rounds(plan.cols) * plan.group_bins;
  return cost;
}

// Chooses the number of rows of a tile, and stores it in *plan. Each tile first counts as many rows of pixels as a
// window is high, so that tall tiles take fewer instructions, but many small tiles fill the device better. Returns the
// estimated time of a frame in cycles: its time alone on the device, plus its share of the time of a device that other
// streams fill.
double choose_rows(const LocalHistParams &p, const LocalHistShape &shape, const DeviceLimits &limits,
                   TilePlan *plan) {
  // A single warp issues an instruction every 14 cycles or so, because each instruction waits for the one before. A
  // multiprocessor with many warps issues about 2.4 instructions per cycle.
  constexpr double kCyclesAlone = 14, kIssued = 2.4;
  const double warps = plan->threads / 32.0;
  const auto most = static_cast<std::size_t>(kMaxThreadsOfMultiprocessor / plan->threads);
  const int fit =
      static_cast<int>(std::clamp<std::size_t>(limits.shared_bytes / plan->shared_bytes(), 1, most));
  const int z = p.reduction == LocalHistReduction::none ? plan->groups : 1;
  const int tiles_across = divide_up(shape.cols, plan->cols) * z;
  const double row = cost_of_row(*plan, p), count = cost_of_count(*plan, p);
  double least = 0;
  for (int waves = 1; waves <= 4; ++waves)
    for (int blocks = 1; blocks <= fit; ++blocks) {  // blocks on a multiprocessor at the same time
      const int strips = std::max(1, waves * blocks * limits.multiprocessors / tiles_across);
      const int rows = divide_up(shape.rows, strips);
      const double instructions = (count + rows * row) * divide_up(plan->groups, z);
      const double alone = waves * instructions * std::max(kCyclesAlone, blocks * warps / kIssued);
      const double share = instructions * tiles_across * divide_up(shape.rows, rows) * warps / kIssued /
                           limits.multiprocessors;
      if (least != 0 && alone + share >= least) continue;
      least = alone + share;
      plan->rows = rows;
    }
  return least;
}

}  // namespace

TilePlan plan_tiles(const LocalHistParams &params, const LocalHistShape &shape, const DeviceLimits &limits) {
  const int all_words = divide_up(params.bins, bins_per_word(sums_of(params)));
  const int total = needs_total(params) ? 1 : 0;
  TilePlan best;
  double least = 0;
  // Bins are divided into groups only if a whole histogram does not fit shared memory, because blocks of different
  // groups write to the same sectors of global memory.
  for (int groups = 1; best.cols == 0; groups *= 2)
    for (int threads = 128; threads <= kMaxBlockThreads; threads *= 2)
      for (int segment = 1; segment <= kMaxSpan; segment *= 2) {
        const int words = divide_up(all_words, groups);
        for (int segments = threads / (words + total); segments > 0; segments /= 2) {
          TilePlan plan = make_plan(params, shape, words, threads, segment, segments);
          if (plan.shared_bytes() > limits.shared_bytes) continue;
          const double time = choose_rows(params, shape, limits, &plan);
          if (best.cols != 0 && time >= least) continue;
          best = plan;
          least = time;
        }
      }
  return best;
}

}  // namespace cudavision::localhist
