// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of make_point_primitives().
#pragma once

#include "cuda/sigma2kp/point_primitives_rules.h"

namespace cudavision::sigma2kp {

Status make_point_primitives_cpu(const Execution &execution, Sigma2KpList list, int capacity,
                                 PointStyle style, LineEnds ends, Primitive *primitives, int *drawn);
Status make_point_primitives_cuda(const Execution &execution, Sigma2KpList list, int capacity,
                                  PointStyle style, LineEnds ends, Primitive *primitives, int *drawn);

}  // namespace cudavision::sigma2kp
