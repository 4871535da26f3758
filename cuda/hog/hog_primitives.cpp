// SPDX-License-Identifier: LGPL-2.1-or-later
// Boxes and stars as primitives: the CPU backend, and the choice of one.
#include "cuda/hog/hog_primitives.h"

#include <algorithm>
#include <numbers>

#include "cuda/hog/hog_primitives_rules.h"

namespace cudavision {
namespace {

Status check_line_width(const HogStyle &style) {
  if (style.line_width >= 1 && style.line_width <= 255) return {};
  return invalid_argument("line-width must be between 1 and 255 pixels, not " +
                          std::to_string(style.line_width));
}

// Cells that lie in a block, or between blocks.
Size cells_of(const HogShape &shape, const HogParams &p) {
  return {((shape.cols - 1) * p.stride.width + p.block.width) / p.cell.width,
          ((shape.rows - 1) * p.stride.height + p.block.height) / p.cell.height};
}

}  // namespace

Status hog::make_box_primitives_cpu(const Execution &, HogBoxList list, int capacity, HogStyle style,
                                    Primitive *primitives) {
  for (int i = 0; i < std::min(list.count->listed, capacity); ++i)
    primitives[i] = primitive_of(list.boxes[i], style);
  return {};
}

Status hog::make_star_primitives_cpu(const Execution &execution, StarTask task, Primitive *primitives) {
  execution.workers->run(task.cells.height, [&](int y, int) {
    for (int x = 0; x < task.cells.width; ++x)
      make_star(task, x, y,
                primitives + (static_cast<std::ptrdiff_t>(y) * task.cells.width + x) * task.rules.bins);
  });
  return {};
}

Status make_box_primitives(const Execution &execution, const HogBoxList &list, int capacity,
                           const HogStyle &style, Primitive *primitives) {
  CUDAVISION_TRY(check_line_width(style));
  return run_on_backend(execution, hog::make_box_primitives_cpu,
                        CUDAVISION_IF_CUDA(hog::make_box_primitives_cuda), list, capacity, style, primitives);
}

long long star_line_count(const HogShape &shape, const HogParams &params) {
  const Size cells = cells_of(shape, params);
  return 1ll * cells.width * cells.height * params.bins;
}

Status make_star_primitives(const Execution &execution, const float *blocks, const HogShape &shape,
                            const HogParams &params, const HogStyle &style, Primitive *primitives) {
  CUDAVISION_TRY(check_line_width(style));
  hog::StarTask task{
      blocks, shape, hog::rules_of(params), params.signed_gradient, cells_of(shape, params), style, {}, {}};
  const int reach = (std::min(params.cell.width, params.cell.height) - 1) / 2;
  const double range = params.signed_gradient ? 2 * std::numbers::pi : std::numbers::pi;
  for (int bin = 0; bin < params.bins; ++bin) {
    // An edge is perpendicular to its gradient.
    const double angle = (bin + 0.5) / params.bins * range + std::numbers::pi / 2;
    task.dx[bin] = static_cast<signed char>(std::lround(reach * std::cos(angle)));
    task.dy[bin] = static_cast<signed char>(std::lround(reach * std::sin(angle)));
  }
  return run_on_backend(execution, hog::make_star_primitives_cpu,
                        CUDAVISION_IF_CUDA(hog::make_star_primitives_cuda), task, primitives);
}

}  // namespace cudavision
