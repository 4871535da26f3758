// SPDX-License-Identifier: LGPL-2.1-or-later
// What both backends of the sigma^2 detector share: checks, the plan, and the choice of a backend.
#include "cuda/sigma2kp/sigma2kp.h"

#include <algorithm>
#include <cmath>

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/sigma2kp/sigma2kp_rules.h"

namespace cudavision {

Status validate(const Sigma2KpParams &p) {
  CUDAVISION_TRY(check_range("window", p.window, 3, 31));
  CUDAVISION_TRY(check_range("cell", p.cell, 2, 32));
  if (!(p.tau > 0 && p.tau < p.cell * 0.5))  // true of a NaN
    return invalid_argument("tau (" + std::to_string(p.tau) +
                            ") must be more than 0 and less than half of cell (" + std::to_string(p.cell) +
                            ")");
  if (p.grids != 2 && p.grids != 4)
    return invalid_argument("grids must be 2 or 4, not " + std::to_string(p.grids));
  CUDAVISION_TRY(check_range("min-distance", p.min_distance, 0, 255));
  CUDAVISION_TRY(check_range("max-keypoints", p.max_keypoints, 1, 1000000));
  CUDAVISION_TRY(check_range("orientation-window", p.orientation_window, 2, 64));
  return check_range("orientation-bins", p.orientation_bins, 1, kMaxOrientations);
}

sigma2kp::Plan sigma2kp::make_plan(Size picture, const Sigma2KpParams &params) {
  Plan plan{};
  plan.window = params.window;
  plan.cell = params.cell;
  plan.dense = params.definition == Sigma2Definition::dense;
  plan.map = {picture.width - params.window + 1, picture.height - params.window + 1};
  if (plan.map.width < params.cell || plan.map.height < params.cell) plan.map = {};
  const int half = params.cell / 2;
  if (plan.dense) {
    const int reach = static_cast<int>(params.tau);  // along an axis
    plan.reach = static_cast<int>(params.tau * params.tau);
    plan.first_near = -reach, plan.end_near = reach + 1;
    plan.before = reach + half, plan.after = reach + params.cell - 1 - half;
    return plan;
  }
  plan.grid_count = params.grids;
  const Offset offsets[kMaxGrids] = {{0, 0}, {half, half}, {half, 0}, {0, half}};
  std::copy(offsets, offsets + kMaxGrids, plan.grid);
  plan.reach = static_cast<int>(std::ceil(4 * params.tau * params.tau)) - 1;
  while (plan.first_near < params.cell && !plan.is_near(plan.first_near, (params.cell + 1) / 2))
    ++plan.first_near;
  plan.end_near = plan.first_near;
  while (plan.end_near < params.cell && plan.is_near(plan.end_near, (params.cell + 1) / 2)) ++plan.end_near;
  plan.before = std::max(plan.end_near - 1, 0);
  plan.after = params.cell - 1 - std::min(plan.first_near, params.cell - 1);
  return plan;
}

std::size_t sigma2kp::most_keypoints(const Plan &plan) {
  if (plan.dense) return static_cast<std::size_t>(plan.map.width) * static_cast<std::size_t>(plan.map.height);
  std::size_t count = 0;
  for (int g = 0; g < plan.grid_count; ++g)
    count += static_cast<std::size_t>(plan.squares(plan.map.width, plan.grid[g].x)) *
             static_cast<std::size_t>(plan.squares(plan.map.height, plan.grid[g].y));
  return count;
}

Status sigma2kp::check_run(Size luma, Size made_for, const Sigma2KpParams &params) {
  CUDAVISION_TRY(check_size("luma", luma, made_for));
  return validate(params);
}

Status make_sigma2kp(const Execution &execution, Size size, std::unique_ptr<Sigma2Kp> *room) {
  return make_on_backend(execution, size, room, sigma2kp::make_sigma2kp_cpu,
                         CUDAVISION_IF_CUDA(sigma2kp::make_sigma2kp_cuda));
}

}  // namespace cudavision
