// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches an operation's result to its frame.
#pragma once

#include <gst/cudavision/cudavision.h>

#include <initializer_list>

#include "gst/base/element/operation.h"
#include "gst/base/frame/owned_buffer.h"

namespace cudavision {

// Attaches a tensor to job.buffer, and from GStreamer 1.26 on the same data as a GstTensor. `data` holds the tensor's
// values in row-major order. The values belong to every step_x-th column and every step_y-th row of the region,
// beginning at its top left pixel. dims: sizes, outermost dimension first. With job.draw, the operation also draws the
// tensor.
Status attach_tensor(const Job &job, const char *id, GstCudaVisionElementType type,
                     std::initializer_list<int> dims, OwnedBuffer data, double step_x = 1, double step_y = 1);

// Attaches a map of the region, which has one byte per pixel, 0 or 255, and no padding: as a tensor, and from GStreamer
// 1.26 on as a segmentation, too, whose value 255 has the class class_name. There must be no other reference to `data`.
Status attach_map(const Job &job, const char *id, const char *class_name, OwnedBuffer data);

}  // namespace cudavision
