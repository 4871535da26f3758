// SPDX-License-Identifier: LGPL-2.1-or-later
// Lines as primitives: the CPU backend, and the choice of one.
#include "cuda/hough/line_primitives.h"

#include <algorithm>

#include "cuda/common/backends.h"
#include "cuda/hough/line_primitives_rules.h"

namespace cudavision {

Status hough::make_line_primitives_cpu(const Execution &, HoughList list, int capacity, LineStyle style,
                                       Primitive *primitives) {
  for (int i = 0; i < std::min(list.count->listed, capacity); ++i)
    primitives[i] = primitive_of(list.lines[i], style);
  return {};
}

Status make_line_primitives(const Execution &execution, const HoughList &list, int capacity,
                            const LineStyle &style, Primitive *primitives) {
  if (style.line_width < 1 || style.line_width > 255)
    return invalid_argument("line-width must be between 1 and 255 pixels, not " +
                            std::to_string(style.line_width));
  return run_on_backend(execution, hough::make_line_primitives_cpu,
                        CUDAVISION_IF_CUDA(hough::make_line_primitives_cuda), list, capacity, style,
                        primitives);
}

}  // namespace cudavision
