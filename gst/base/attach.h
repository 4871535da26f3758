// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches what an operation found to its frame.
#pragma once

#include <gst/cudavision/cudavision.h>

#include <initializer_list>

#include "gst/base/operation.h"

namespace cudavision {

// data (taken): the elements of the tensor, row-major, at every step_x-th column and step_y-th row of the
// region from its top left pixel on. dims: outermost first.
Status attach_tensor(const Job &job, const char *id, GstCudaVisionElementType type,
                     std::initializer_list<int> dims, GstBuffer *data, double step_x = 1, double step_y = 1);

}  // namespace cudavision
