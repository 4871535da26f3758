// SPDX-License-Identifier: LGPL-2.1-or-later
// Validation for keypoint primitives, and the choice of the backend.
#include "cuda/sigma2kp/point_primitives.h"

#include <cmath>

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/sigma2kp/point_primitives_backends.h"

namespace cudavision {
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
