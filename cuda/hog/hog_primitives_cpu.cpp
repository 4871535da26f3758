// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of boxes and stars as primitives.
#include <algorithm>

#include "cuda/common/workers.h"
#include "cuda/hog/hog_primitives_backends.h"

namespace cudavision::hog {

Status make_box_primitives_cpu(const Execution &, HogBoxList list, int capacity, HogStyle style,
                               Primitive *primitives) {
  for (int i = 0; i < std::min(list.count->listed, capacity); ++i)
    primitives[i] = primitive_of(list.boxes[i], style);
  return {};
}

Status make_star_primitives_cpu(const Execution &execution, StarTask task, Primitive *primitives) {
  primitives[static_cast<std::ptrdiff_t>(task.stars.width) * task.stars.height * task.rules.bins] =
      shade_of(task);
  execution.workers->run(task.stars.height, [&](int y, int) {
    for (int x = 0; x < task.stars.width; ++x)
      make_star(task, x, y,
                primitives + (static_cast<std::ptrdiff_t>(y) * task.stars.width + x) * task.rules.bins);
  });
  return {};
}

}  // namespace cudavision::hog
