// SPDX-License-Identifier: LGPL-2.1-or-later
// Validation and planning for both backends of the sigma^2 detector and of keypoint primitives, and the choice of the
// backend.
#include "cuda/sigma2kp/sigma2kp.h"

#include <algorithm>
#include <cmath>

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/common/number_text.h"
#include "cuda/sigma2kp/point_primitives.h"
#include "cuda/sigma2kp/sigma2kp_backends.h"

namespace cudavision {

Status validate(const Sigma2KpParams &p) {
  CUDAVISION_TRY(check_range("window", p.window, Sigma2KpRanges::window));
  CUDAVISION_TRY(check_range("cell", p.cell, Sigma2KpRanges::cell));
  if (!(p.tau > 0 && p.tau < p.cell * 0.5))  // also true for NaN
    return invalid_argument("tau (" + text_of(p.tau) + ") must be more than 0 and less than half of cell (" +
                            std::to_string(p.cell) + ")");
  if (p.grids != 2 && p.grids != 4)
    return invalid_argument("grids must be 2 or 4, not " + std::to_string(p.grids));
  CUDAVISION_TRY(check_range("min-distance", p.min_distance, Sigma2KpRanges::min_distance));
  CUDAVISION_TRY(check_range("max-keypoints", p.max_keypoints, Sigma2KpRanges::max_keypoints));
  CUDAVISION_TRY(check_range("orientation-window", p.orientation_window, Sigma2KpRanges::orientation_window));
  return check_range("orientation-bins", p.orientation_bins, Sigma2KpRanges::orientation_bins);
}

sigma2kp::DetectorPlan sigma2kp::make_detector_plan(Size image, const Sigma2KpParams &params) {
  DetectorPlan plan{};
  plan.window = params.window;
  plan.cell = params.cell;
  plan.dense = params.definition == Sigma2KpDefinition::dense;
  plan.map = {image.width - params.window + 1, image.height - params.window + 1};
  if (plan.map.width < params.cell || plan.map.height < params.cell) plan.map = {};
  const int half = params.cell / 2;
  if (plan.dense) {
    const int reach = static_cast<int>(params.tau);
    plan.max_squared_distance = static_cast<int>(params.tau * params.tau);
    plan.first_near = -reach, plan.end_near = reach + 1;
    plan.before = reach + half, plan.after = reach + params.cell - 1 - half;
    return plan;
  }
  plan.grid_count = params.grids;
  const Offset offsets[kMaxGrids] = {{0, 0}, {half, half}, {half, 0}, {0, half}};
  std::copy(offsets, offsets + kMaxGrids, plan.grid);
  plan.max_squared_distance = static_cast<int>(std::ceil(4 * params.tau * params.tau)) - 1;
  while (plan.first_near < params.cell && !plan.is_near(plan.first_near, (params.cell + 1) / 2))
    ++plan.first_near;
  plan.end_near = plan.first_near;
  while (plan.end_near < params.cell && plan.is_near(plan.end_near, (params.cell + 1) / 2)) ++plan.end_near;
  plan.before = std::max(plan.end_near - 1, 0);
  plan.after = params.cell - 1 - std::min(plan.first_near, params.cell - 1);
  return plan;
}

std::size_t sigma2kp::max_keypoint_count(const DetectorPlan &plan) {
  if (plan.dense) return static_cast<std::size_t>(plan.map.width) * static_cast<std::size_t>(plan.map.height);
  std::size_t count = 0;
  for (int g = 0; g < plan.grid_count; ++g)
    count += static_cast<std::size_t>(cells_along(plan.map.width, plan.grid[g].x, plan.cell)) *
             static_cast<std::size_t>(cells_along(plan.map.height, plan.grid[g].y, plan.cell));
  return count;
}

Status sigma2kp::check_run(Size luma, Size made_for, const Sigma2KpParams &params) {
  CUDAVISION_TRY(check_size("luma", luma, made_for));
  return validate(params);
}

Status make_sigma2kp(const Execution &execution, Size size, std::unique_ptr<Sigma2Kp> *sigma2kp) {
  return make_on_backend(execution, size, sigma2kp, CUDAVISION_BACKENDS(sigma2kp::make_sigma2kp));
}

namespace {

sigma2kp::LineEnds line_ends(const PointStyle &style) {
  sigma2kp::LineEnds ends{};
  const double length = sigma2kp::kReach * style.size;
  for (int bin = 0; bin < style.orientation_bins; ++bin) {
    const double angle = angle_of_bin(bin, style.orientation_bins);
    ends.x[bin] = static_cast<std::int16_t>(std::lround(length * std::cos(angle)));
    ends.y[bin] = static_cast<std::int16_t>(std::lround(length * std::sin(angle)));
  }
  return ends;
}

}  // namespace

Status make_point_primitives(const Execution &execution, const Sigma2KpList &list, int capacity,
                             const PointStyle &style, Primitive *primitives, int *drawn) {
  CUDAVISION_TRY(check_range("point-size", style.size, PointStyleRanges::size));
  CUDAVISION_TRY(check_range("line-width", style.line_width, PointStyleRanges::line_width));
  CUDAVISION_TRY(check_range("orientation-bins", style.orientation_bins, Sigma2KpRanges::orientation_bins));
  return run_on_backend(execution, CUDAVISION_BACKENDS(sigma2kp::make_point_primitives), list, capacity,
                        style, line_ends(style), primitives, drawn);
}

}  // namespace cudavision
