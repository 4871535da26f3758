// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of keypoint primitives.
#include <algorithm>

#include "cuda/sigma2kp/point_primitives_backends.h"

namespace cudavision::sigma2kp {

Status make_point_primitives_cpu(const Execution &, Sigma2KpList list, int capacity, PointStyle style,
                                 LineEnds ends, Primitive *primitives, int *drawn) {
  const int count = std::min(list.count->listed, capacity);
  for (int i = 0; i < count; ++i) make_primitives(list.keypoints[i], style, ends, primitives + 2 * i);
  *drawn = 2 * count;
  return {};
}

}  // namespace cudavision::sigma2kp
