// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of make_line_primitives().
#pragma once

#include "cuda/hough/line_primitives.h"

namespace cudavision::hough {

Status make_line_primitives_cpu(const Execution &execution, HoughList list, int capacity, LineStyle style,
                                Primitive *primitives);
Status make_line_primitives_cuda(const Execution &execution, HoughList list, int capacity, LineStyle style,
                                 Primitive *primitives);

}  // namespace cudavision::hough
