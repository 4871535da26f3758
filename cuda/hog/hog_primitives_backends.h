// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of boxes and stars as primitives.
#pragma once

#include "cuda/hog/hog_primitives_rules.h"

namespace cudavision::hog {

Status make_box_primitives_cpu(const Execution &execution, HogBoxList list, int capacity, BoxDrawing drawing);
Status make_box_primitives_cuda(const Execution &execution, HogBoxList list, int capacity,
                                BoxDrawing drawing);
Status make_star_primitives_cpu(const Execution &execution, StarTask task, Primitive *primitives);
Status make_star_primitives_cuda(const Execution &execution, StarTask task, Primitive *primitives);

}  // namespace cudavision::hog
