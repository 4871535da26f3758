// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/hog/hog_detector_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cuda/hog/hog_backends.h"

namespace cudavision::hog {
namespace {

Size scaled(Size size, double scale) {
  return {round_even(size.width / scale), round_even(size.height / scale)};
}

}  // namespace

DetectionPlan make_detection_plan(Size size, const HogModel &model, const HogSearch &search) {
  DetectionPlan plan;
  const Size stride = model.params.stride, block = model.params.block;
  plan.params = model.params;
  plan.params.stride = {std::gcd(search.win_stride, stride.width),
                        std::gcd(search.win_stride, stride.height)};
  const Size grid = plan.params.stride;
  plan.window = model.window;
  plan.win_stride = search.win_stride;
  plan.grid = {.stride = grid,
               .block = block,
               .window_step = {search.win_stride / grid.width, search.win_stride / grid.height},
               .block_step = {stride.width / grid.width, stride.height / grid.height},
               .blocks_per_window = {(model.window.width - block.width) / stride.width + 1,
                                     (model.window.height - block.height) / stride.height + 1}};
  double scale = std::min(1.0, search.min_scale);
  for (int i = 0; i < model.levels; ++i, scale *= search.scale_step) {
    const Size at = scaled(size, scale);
    if (at.width < model.window.width || at.height < model.window.height) break;
    const bool fits = at.width <= kMaxSide && at.height <= kMaxSide;
    if (fits && scale >= search.min_scale && (search.max_scale == 0 || scale <= search.max_scale)) {
      Level level{scale, at, {}, {}};
      level.windows = {(at.width - model.window.width) / search.win_stride + 1,
                       (at.height - model.window.height) / search.win_stride + 1};
      const Region blocks = blocks_of_windows(plan.grid, {0, 0, level.windows.width, level.windows.height});
      level.blocks.cols = blocks.width, level.blocks.rows = blocks.height;
      level.blocks.length = rules_of(model.params).length;
      plan.levels.push_back(level);
    }
    if (search.scale_step <= 1) break;
  }
  return plan;
}

std::vector<std::int32_t> resize_taps(int from, int to) {
  const double scale = 1 / (static_cast<double>(to) / from);
  std::vector<std::int32_t> taps;
  for (int i = 0; i < to; ++i) {
    const double at = scale * (i + 0.5) - 0.5;
    int first = static_cast<int>(std::floor(at)), weight = 0;
    if (first < 0)
      first = 0;
    else if (first >= from - 1)
      first = from - 1;
    else
      weight = round_even((at - first) * 256);
    taps.push_back(first << 9 | weight);
  }
  return taps;
}

}  // namespace cudavision::hog
