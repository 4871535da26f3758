// SPDX-License-Identifier: LGPL-2.1-or-later
// Local histograms: validation, shapes, scratch memory, and the choice of a backend.
#include "cuda/localhist/localhist.h"

#include <string>

#include "cuda/common/check_range.h"
#include "cuda/localhist/localhist_backends.h"
#include "cuda/localhist/localhist_rules.h"
#include "cuda/localhist/tile_plan.h"

namespace cudavision {

Status validate(const LocalHistParams &p) {
  const bool brightness = p.feature == LocalHistFeature::brightness;
  CUDAVISION_TRY(check_range(brightness ? "bins with feature=brightness" : "bins", p.bins,
                             brightness ? LocalHistRanges::brightness_bins : LocalHistRanges::bins));
  CUDAVISION_TRY(check_range("window-width", p.window.width, LocalHistRanges::window_side));
  CUDAVISION_TRY(check_range("window-height", p.window.height, LocalHistRanges::window_side));
  CUDAVISION_TRY(check_range("stride-x", p.stride_x, LocalHistRanges::stride));
  return check_range("stride-y", p.stride_y, LocalHistRanges::stride);
}

Status shape_of(Size picture, const LocalHistParams &params, LocalHistShape *shape) {
  CUDAVISION_TRY(validate(params));
  const Size window = params.window;
  if (window.width > picture.width || window.height > picture.height)
    return too_small("window-width and window-height (" + to_string(window) +
                     ") must not exceed the picture's (" + to_string(picture) + ")");
  shape->rows = (picture.height - window.height) / params.stride_y + 1;
  shape->cols = (picture.width - window.width) / params.stride_x + 1;
  const localhist::SumKind sums = localhist::sums_of(params);
  shape->element = localhist::is_weighted(sums)           ? LocalHistElementType::f32
                   : sums == localhist::SumKind::counts16 ? LocalHistElementType::u16
                                                          : LocalHistElementType::u32;
  const std::size_t element_bytes = shape->element == LocalHistElementType::u16 ? 2 : 4;
  shape->histogram_bytes = static_cast<std::size_t>(shape->rows) * static_cast<std::size_t>(shape->cols) *
                           static_cast<std::size_t>(params.bins) * element_bytes;
  return {};
}

Status localhist::check_run(Size luma, Size made_for, const LocalHistParams &params,
                            const LocalHistOutput &output, const float *model) {
  CUDAVISION_TRY(check_size("luma", luma, made_for));
  const LocalHistReduction reduction = params.reduction;
  const bool complete =
      reduction == LocalHistReduction::none
          ? output.histograms != nullptr
          : output.value != nullptr && (output.argmax != nullptr || reduction != LocalHistReduction::argmax);
  if (!complete) return invalid_argument("an output that the reduction writes is null");
  if (reduction == LocalHistReduction::distance && model == nullptr)
    return invalid_argument("the distance needs a model");
  return {};
}

Status localhist::check_region(Size luma, Size made_for, Region region) {
  CUDAVISION_TRY(check_size("luma", luma, made_for));
  if (region.width > 0 && region.height > 0 && lies_within(region, luma)) return {};
  return invalid_argument("the model's region of " + to_string(Size{region.width, region.height}) +
                          " pixels does not lie within the picture");
}

Status make_localhist(const Execution &execution, Size size, const LocalHistParams &params,
                      std::unique_ptr<LocalHist> *localhist) {
  LocalHistShape shape;
  CUDAVISION_TRY(shape_of(size, params, &shape));
  if (size.width > kMaxSide || size.height > kMaxSide)
    return invalid_argument(to_string(size) + " pixels: each side must be at most " +
                            std::to_string(kMaxSide));
  return run_on_backend(execution, CUDAVISION_BACKENDS(localhist::make_localhist), size, params, localhist);
}

}  // namespace cudavision
