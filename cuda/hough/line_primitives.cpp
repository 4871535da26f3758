// SPDX-License-Identifier: LGPL-2.1-or-later
// Validation for line primitives, and the choice of the backend.
#include "cuda/hough/line_primitives.h"

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/hough/line_primitives_backends.h"

namespace cudavision {

Status make_line_primitives(const Execution &execution, const HoughList &list, int capacity,
                            const LineStyle &style, Primitive *primitives) {
  CUDAVISION_TRY(check_range("line-width", style.line_width, LineStyleRanges::line_width));
  CUDAVISION_TRY(check_range("color_count", style.color_count, LineStyleRanges::color_count));
  return run_on_backend(execution, CUDAVISION_BACKENDS(hough::make_line_primitives), list, capacity, style,
                        primitives);
}

}  // namespace cudavision
