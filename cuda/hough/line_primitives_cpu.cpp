// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of line primitives.
#include <algorithm>

#include "cuda/hough/line_primitives_backends.h"
#include "cuda/hough/line_primitives_rules.h"

namespace cudavision::hough {

Status make_line_primitives_cpu(const Execution &, HoughList list, int capacity, LineStyle style,
                                Primitive *primitives) {
  for (int i = 0; i < std::min(list.count->listed, capacity); ++i)
    primitives[i] = primitive_of(list.lines[i], style);
  return {};
}

}  // namespace cudavision::hough
