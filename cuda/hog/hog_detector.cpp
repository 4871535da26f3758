// SPDX-License-Identifier: LGPL-2.1-or-later
// The detector: validation, and the choice of a backend.
#include "cuda/hog/hog_detector.h"

#include <algorithm>
#include <cmath>

#include "cuda/common/check_range.h"
#include "cuda/common/number_text.h"
#include "cuda/hog/hog_backends.h"
#include "cuda/hog/hog_detector_plan.h"

namespace cudavision {

Status hog_weight_count(const HogParams &p, Size window, std::size_t *count) {
  CUDAVISION_TRY(validate(p));
  const int beyond_x = window.width - p.block.width, beyond_y = window.height - p.block.height;
  if (beyond_x < 0 || beyond_y < 0 || beyond_x % p.stride.width != 0 || beyond_y % p.stride.height != 0 ||
      window.width > HogDetectorRanges::window_side.most ||
      window.height > HogDetectorRanges::window_side.most)
    return invalid_argument("a window of " + to_string(window) + " pixels is not a block of " +
                            to_string(p.block) + " and whole strides of " + to_string(p.stride) +
                            ", at most " + std::to_string(HogDetectorRanges::window_side.most) + " a side");
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
  CUDAVISION_TRY(check_range("the number of scales", model.levels, HogDetectorRanges::levels));
  if (model.weights.size() != count)
    return invalid_argument(std::to_string(model.weights.size()) + " weights, but windows of " +
                            to_string(model.window) + " pixels have " + std::to_string(count));
  for (std::size_t i = 0; i < count; ++i)
    if (!std::isfinite(model.weights[i]))
      return invalid_argument("weight " + std::to_string(i) + " is not finite");
  if (!std::isfinite(model.bias)) return invalid_argument("the bias is not finite");
  const HogPart &part = model.object;
  const auto is_inside = [](double first, double share) {
    return first >= 0 && share > 0 && first + share <= 1;
  };
  if (!is_inside(part.x, part.width) || !is_inside(part.y, part.height))
    return invalid_argument("the part of the window that an object fills does not lie in the window");
  return check_range("the smallest scale", model.min_scale, HogDetectorRanges::min_scale);
}

Status validate(const HogSearch &s) {
  CUDAVISION_TRY(check_range("scale-step", s.scale_step, HogDetectorRanges::scale_step));
  CUDAVISION_TRY(check_range("min-scale", s.min_scale, HogDetectorRanges::min_scale));
  if (!(s.max_scale == 0 || (s.max_scale >= s.min_scale && s.max_scale <= HogDetectorRanges::max_scale.most)))
    return invalid_argument("max-scale (" + text_of(s.max_scale) +
                            ") must be 0, for no limit, or at least min-scale (" + text_of(s.min_scale) +
                            ")");
  return check_range("win-stride", s.win_stride, HogDetectorRanges::win_stride);
}

std::int64_t hog_window_count(Size size, const HogModel &model, const HogSearch &search) {
  std::int64_t count = 0;
  for (const hog::Level &level : hog::make_detection_plan(size, model, search).levels)
    count += std::int64_t{level.windows.width} * level.windows.height;
  return count;
}

// The numbers of a block's descriptor are not negative, and with every norm the sum of their squares is at most 1. So,
// by the Cauchy-Schwarz inequality, a block adds at most the root of the sum of the squares of its positive weights.
double hog_score_bound(const HogModel &model) {
  const auto length = static_cast<std::size_t>(hog::rules_of(model.params).length);
  double bound = 0;
  for (std::size_t first = 0; first < model.weights.size(); first += length) {
    double squares = 0;
    for (std::size_t i = first; i < std::min(first + length, model.weights.size()); ++i) {
      const double weight = std::max(model.weights[i], 0.0f);
      squares += weight * weight;
    }
    bound += std::sqrt(squares);
  }
  constexpr double kRounding = 1.001;
  return bound * kRounding + model.bias;
}

Status make_hog_detector(const Execution &execution, Size size, int channels, const HogModel &model,
                         const HogSearch &search, std::unique_ptr<HogDetector> *detector) {
  CUDAVISION_TRY(validate(model));
  CUDAVISION_TRY(validate(search));
  CUDAVISION_TRY(check_sides(size));
  if (channels != 1 && channels != 3)
    return invalid_argument("pictures have 1 or 3 channels, not " + std::to_string(channels));
  return run_on_backend<Size, int, const HogModel &, const HogSearch &>(
      execution, CUDAVISION_BACKENDS(hog::make_hog_detector), size, channels, model, search, detector);
}

}  // namespace cudavision
