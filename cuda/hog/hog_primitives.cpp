// SPDX-License-Identifier: LGPL-2.1-or-later
// Boxes and stars as primitives: validation, and the choice of a backend.
#include "cuda/hog/hog_primitives.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cuda/common/check_range.h"
#include "cuda/hog/hog_backends.h"

namespace cudavision {
namespace {

Status check_line_width(const HogStyle &style) {
  return check_range("line-width", style.line_width, HogStyleRanges::line_width);
}

// The number of cells in a row and in a column of the area that the blocks span.
Size cells_of(const HogShape &shape, const HogParams &p) {
  return {((shape.cols - 1) * p.stride.width + p.block.width) / p.cell.width,
          ((shape.rows - 1) * p.stride.height + p.block.height) / p.cell.height};
}

Size stars_of(Size cells, StarGroups groups) {
  return {std::max(1, cells.width / groups.side), std::max(1, cells.height / groups.side)};
}

// Three times the mean that the bins of a block have if all its numbers are equal: each is 1 / length with
// the norm l1, and otherwise the square root of that.
float full_mean(const HogShape &shape, const HogParams &p) {
  const float length = static_cast<float>(shape.length);
  return 3.0f / (p.norm == HogNorm::l1 ? length : std::sqrt(length));
}

}  // namespace

Status make_box_primitives(const Execution &execution, const HogBoxList &list, int capacity,
                           const HogStyle &style, const HogLabels &labels, Primitive *primitives,
                           int *count) {
  CUDAVISION_TRY(check_line_width(style));
  return run_on_backend(execution, CUDAVISION_BACKENDS(hog::make_box_primitives), list, capacity,
                        hog::BoxDrawing{style, labels, primitives, count});
}

long long star_line_count(const HogShape &shape, const HogParams &params, StarGroups groups) {
  const Size stars = stars_of(cells_of(shape, params), groups);
  return 1ll * stars.width * stars.height * params.bins;
}

Status make_star_primitives(const Execution &execution, const HogPicture &picture, const float *blocks,
                            const HogShape &shape, const HogParams &params, StarGroups groups,
                            const HogStyle &style, Primitive *primitives) {
  CUDAVISION_TRY(check_line_width(style));
  CUDAVISION_TRY(check_range("side", groups.side, Range<int>{1, StarGroups::kMostSide}));
  hog::StarTask task{.picture = picture,
                     .blocks = blocks,
                     .shape = shape,
                     .rules = hog::rules_of(params),
                     .is_signed = params.signed_gradient,
                     .cells = cells_of(shape, params),
                     .stars = stars_of(cells_of(shape, params), groups),
                     .side = groups.side,
                     .full_mean = full_mean(shape, params),
                     .style = style,
                     .dx = {},
                     .dy = {}};
  const int reach = (std::min(params.cell.width, params.cell.height) * groups.side - 1) / 2;
  const double range = params.signed_gradient ? 2 * std::numbers::pi : std::numbers::pi;
  for (int bin = 0; bin < params.bins; ++bin) {
    // An edge is perpendicular to its gradient.
    const double angle = (bin + 0.5) / params.bins * range + std::numbers::pi / 2;
    task.dx[bin] = static_cast<std::int16_t>(std::lround(reach * std::cos(angle)));
    task.dy[bin] = static_cast<std::int16_t>(std::lround(reach * std::sin(angle)));
  }
  return run_on_backend(execution, CUDAVISION_BACKENDS(hog::make_star_primitives), task, primitives);
}

}  // namespace cudavision
