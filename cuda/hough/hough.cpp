// SPDX-License-Identifier: LGPL-2.1-or-later
// Validation for both backends of the Hough transform and of line primitives, and the choice of the backend.
#include "cuda/hough/hough.h"

#include <cmath>
#include <string>

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/common/number_text.h"
#include "cuda/hough/hough_backends.h"
#include "cuda/hough/line_primitives.h"

namespace cudavision {
namespace {

// Rounds half to even, as cvRound().
int round_even(double value) { return static_cast<int>(std::nearbyint(value)); }

}  // namespace

Status validate(const HoughParams &p) {
  CUDAVISION_TRY(check_range("rho", p.rho, HoughRanges::rho));
  CUDAVISION_TRY(check_range("theta", p.theta, HoughRanges::theta));
  CUDAVISION_TRY(check_range("min-theta", p.min_theta, HoughRanges::min_theta));
  CUDAVISION_TRY(check_range("max-theta", p.max_theta, HoughRanges::max_theta));
  if (p.min_theta > p.max_theta)
    return invalid_argument("min-theta (" + text_of(p.min_theta) + ") must not exceed max-theta (" +
                            text_of(p.max_theta) + ")");
  if (p.max_theta - p.min_theta > HoughRanges::kPiAsFloat)
    return invalid_argument("from min-theta (" + text_of(p.min_theta) + ") to max-theta (" +
                            text_of(p.max_theta) + ") is more than half a turn");
  CUDAVISION_TRY(check_range("threshold", p.threshold, HoughRanges::threshold));
  CUDAVISION_TRY(check_range("max-lines", p.max_lines, HoughRanges::max_lines));
  CUDAVISION_TRY(check_range("nms-radius", p.nms_radius, HoughRanges::nms_radius));
  CUDAVISION_TRY(check_range("min-length", p.min_length, HoughRanges::min_length));
  return check_range("max-gap", p.max_gap, HoughRanges::max_gap);
}

HoughShape hough_shape(Size size, const HoughParams &params) {
  const float rho = static_cast<float>(params.rho), theta = static_cast<float>(params.theta);
  const float distances = static_cast<float>(2 * (size.width + size.height) + 1);
  return {round_even((params.max_theta - params.min_theta) / theta), round_even(distances / rho)};
}

Status check_accumulator(Size size, const HoughParams &params) {
  CUDAVISION_TRY(validate(params));
  hough::AccumulatorPlan plan;
  return catch_bad_alloc([&] { return hough::make_accumulator_plan(size, params, &plan); });
}

Status hough::check_run(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma,
                        Size made_for, const HoughParams &params) {
  CUDAVISION_TRY(check_size("edges", edges.size(), made_for));
  if (params.gradient_voting) CUDAVISION_TRY(check_size("luma", luma.size(), made_for));
  return validate(params);
}

Status hough::check_votes(ImageView<std::uint32_t> votes, const AccumulatorPlan *plan) {
  if (plan == nullptr) return invalid_argument("there are no votes before the first successful run");
  return check_size("votes", votes.size(), {plan->rho_count, static_cast<int>(plan->angles.size())});
}

Status make_hough(const Execution &execution, Size size, std::unique_ptr<Hough> *hough) {
  return make_on_backend(execution, size, hough, CUDAVISION_BACKENDS(hough::make_hough));
}

Status make_line_primitives(const Execution &execution, const HoughList &list, int capacity,
                            const LineStyle &style, Primitive *primitives) {
  CUDAVISION_TRY(check_range("line-width", style.line_width, LineStyleRanges::line_width));
  CUDAVISION_TRY(check_range("color_count", style.color_count, LineStyleRanges::color_count));
  return run_on_backend(execution, CUDAVISION_BACKENDS(hough::make_line_primitives), list, capacity, style,
                        primitives);
}

}  // namespace cudavision
