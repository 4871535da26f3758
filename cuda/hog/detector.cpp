// SPDX-License-Identifier: LGPL-2.1-or-later
// What both backends of the detector share: checks, the plan of scales, grouping, and the choice of a
// backend.
#include "cuda/hog/detector.h"

#include <algorithm>
#include <numeric>

#include "cuda/hog/detector_rules.h"

namespace cudavision {
namespace {

int to_int(double rounded) { return hog::round_even(rounded); }

Size shrunk(Size size, double scale) { return {to_int(size.width / scale), to_int(size.height / scale)}; }

}  // namespace

Status hog_weight_count(const HogParams &p, Size window, std::size_t *count) {
  CUDAVISION_TRY(validate(p));
  const int beyond_x = window.width - p.block.width, beyond_y = window.height - p.block.height;
  if (beyond_x < 0 || beyond_y < 0 || beyond_x % p.stride.width != 0 || beyond_y % p.stride.height != 0 ||
      window.width > kMaxHogWindowSide || window.height > kMaxHogWindowSide)
    return invalid_argument("a window of " + to_string(window) + " pixels is not a block of " +
                            to_string(p.block) + " and whole strides of " + to_string(p.stride) +
                            ", at most " + std::to_string(kMaxHogWindowSide) + " a side");
  HogShape shape;
  CUDAVISION_TRY(hog_shape(window, p, &shape));
  if (shape.count() > kMaxHogWeights)
    return invalid_argument("windows of " + to_string(window) + " pixels have " +
                            std::to_string(shape.count()) + " weights, more than " +
                            std::to_string(kMaxHogWeights));
  *count = shape.count();
  return {};
}

Status validate(const HogModel &model) {
  std::size_t count = 0;
  CUDAVISION_TRY(hog_weight_count(model.params, model.window, &count));
  if (model.levels < 1 || model.levels > kMaxHogLevels)
    return invalid_argument("a model has 1 to " + std::to_string(kMaxHogLevels) + " scales, not " +
                            std::to_string(model.levels));
  if (model.weights.size() != count)
    return invalid_argument(std::to_string(model.weights.size()) + " weights, but windows of " +
                            to_string(model.window) + " pixels have " + std::to_string(count));
  for (std::size_t i = 0; i < count; ++i)
    if (!std::isfinite(model.weights[i]))
      return invalid_argument("weight " + std::to_string(i) + " is not finite");
  return std::isfinite(model.bias) ? Status() : invalid_argument("the bias is not finite");
}

Status validate(const HogSearch &s) {
  if (!(s.scale_step >= 1 && s.scale_step <= 10))
    return invalid_argument("scale-step must be between 1 and 10, not " + std::to_string(s.scale_step));
  if (!(s.min_scale >= 1 && s.min_scale <= kMaxSide))
    return invalid_argument("min-scale must be between 1 and " + std::to_string(kMaxSide) + ", not " +
                            std::to_string(s.min_scale));
  if (!(s.max_scale == 0 || (s.max_scale >= s.min_scale && s.max_scale <= kMaxSide)))
    return invalid_argument("max-scale (" + std::to_string(s.max_scale) +
                            ") must be 0, for no limit, or at least " + "min-scale (" +
                            std::to_string(s.min_scale) + ")");
  if (s.win_stride < 1 || s.win_stride > 512)
    return invalid_argument("win-stride must be between 1 and 512 pixels, not " +
                            std::to_string(s.win_stride));
  return {};
}

hog::Plan hog::make_plan(Size size, const HogModel &model, const HogSearch &search) {
  Plan plan;
  const Size stride = model.params.stride, block = model.params.block;
  plan.params = model.params;
  plan.params.stride = {std::gcd(search.win_stride, stride.width),
                        std::gcd(search.win_stride, stride.height)};
  const Size grid = plan.params.stride;
  plan.window = model.window;
  plan.win_stride = search.win_stride;
  plan.window_blocks = {(model.window.width - block.width) / stride.width + 1,
                        (model.window.height - block.height) / stride.height + 1};
  plan.block_step = {stride.width / grid.width, stride.height / grid.height};
  plan.window_step = {search.win_stride / grid.width, search.win_stride / grid.height};
  double scale = 1;
  for (int i = 0; i < model.levels; ++i, scale *= search.scale_step) {
    const Size at = shrunk(size, scale);
    if (at.width < model.window.width || at.height < model.window.height) break;
    if (scale >= search.min_scale && (search.max_scale == 0 || scale <= search.max_scale)) {
      Level level{scale, at, {}, {}};
      level.windows = {(at.width - model.window.width) / search.win_stride + 1,
                       (at.height - model.window.height) / search.win_stride + 1};
      // Of the blocks those that lie in a window.
      level.blocks.cols = (level.windows.width - 1) * plan.window_step.width +
                          (plan.window_blocks.width - 1) * plan.block_step.width + 1;
      level.blocks.rows = (level.windows.height - 1) * plan.window_step.height +
                          (plan.window_blocks.height - 1) * plan.block_step.height + 1;
      level.blocks.length = rules_of(model.params).length;
      plan.levels.push_back(level);
    }
    if (search.scale_step <= 1) break;
  }
  return plan;
}

std::vector<std::int32_t> hog::resize_taps(int from, int to) {
  const double scale = 1 / (static_cast<double>(to) / from);
  std::vector<std::int32_t> taps;
  for (int i = 0; i < to; ++i) {
    const double at = scale * (i + 0.5) - 0.5;
    int first = static_cast<int>(std::floor(at)), share = 0;
    if (first < 0)
      first = 0;
    else if (first >= from - 1)
      first = from - 1;
    else
      share = round_even((at - first) * 256);
    taps.push_back(first << 9 | share);
  }
  return taps;
}

std::vector<HogBox> hog::group_hits(const std::vector<HogBox> &hits, int threshold) {
  const int count = static_cast<int>(hits.size());
  std::vector<int> first(hits.size());  // of the hit's group, as far as it is known
  std::iota(first.begin(), first.end(), 0);
  const auto root = [&](int i) {
    while (first[static_cast<std::size_t>(i)] != i) i = first[static_cast<std::size_t>(i)];
    return i;
  };
  for (int i = 1; i < count; ++i)
    for (int j = 0; j < i; ++j)
      if (are_similar(hits[static_cast<std::size_t>(i)], hits[static_cast<std::size_t>(j)])) {
        const int a = root(i), b = root(j);
        first[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
      }
  std::vector<Group> groups(hits.size());
  for (int i = 0; i < count; ++i) {
    const HogBox &hit = hits[static_cast<std::size_t>(i)];
    Group &g = groups[static_cast<std::size_t>(root(i))];
    g.score = g.count == 0 ? hit.score : std::max(g.score, hit.score);
    ++g.count;
    g.x += hit.x, g.y += hit.y, g.width += hit.width, g.height += hit.height;
  }
  std::erase_if(groups, [threshold](const Group &g) { return g.count <= threshold; });
  std::vector<HogBox> boxes;
  for (const Group &g : groups) {
    const HogBox box = average(g);
    const bool kept = std::none_of(groups.begin(), groups.end(), [&](const Group &other) {
      return &other != &g && gives_way(box, g.count, average(other), other.count);
    });
    if (kept) boxes.push_back(box);
  }
  return boxes;
}

Status make_hog_detector(const Execution &execution, Size size, int channels, const HogModel &model,
                         const HogSearch &search, std::unique_ptr<HogDetector> *detector) {
  CUDAVISION_TRY(validate(model));
  CUDAVISION_TRY(validate(search));
  if (size.width < 1 || size.height < 1 || size.width > kMaxSide || size.height > kMaxSide)
    return invalid_argument(to_string(size) + " pixels: each side must be between 1 and " +
                            std::to_string(kMaxSide));
  if (channels != 1 && channels != 3)
    return invalid_argument("pictures have 1 or 3 channels, not " + std::to_string(channels));
  return run_on_backend<Size, int, const HogModel &, const HogSearch &>(
      execution, hog::make_hog_detector_cpu, CUDAVISION_IF_CUDA(hog::make_hog_detector_cuda), size, channels,
      model, search, detector);
}

}  // namespace cudavision
