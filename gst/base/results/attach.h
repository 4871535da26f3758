// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches an operation's results to its frame: tensors, and what a detector has found, with the mark that it has
// looked.
#pragma once

#include <gst/cudavision/cudavision.h>

#include <functional>
#include <initializer_list>

#include "gst/base/element/operation.h"
#include "gst/base/results/tensor_pool.h"

namespace cudavision {

// Attaches a tensor to job.buffer, and from GStreamer 1.26 on the same data as a GstTensor. `data` holds the tensor's
// values in row-major order. The values belong to every step_x-th column and every step_y-th row of the region,
// beginning at its top left pixel. dims: sizes, outermost dimension first. With job.draw, the operation also draws the
// tensor.
Status attach_tensor(const Job &job, const char *id, GstCudaVisionElementType type,
                     std::initializer_list<int> dims, BufferRef data, double step_x = 1, double step_y = 1);

// Attaches a map of the region, which has one byte per pixel, 0 or 255, and no padding: as a tensor, and from GStreamer
// 1.26 on as a segmentation, too, whose value 255 has the class class_name. There must be no other reference to `data`.
Status attach_map(const Job &job, const char *id, const char *class_name, BufferRef data);

// How a detector has looked at a frame. Only `whole` tells that there is nothing else of its type.
enum class Look { none, part, whole };

struct FoundBox {
  Region place;  // in coordinates of the analysed region
  float confidence;
  GstStructure *param;  // becomes a parameter of the region
};

// Attaches box(0) to box(count - 1) as regions of interest of this type, with ids that no other region of the buffer
// has, and from GStreamer 1.24 on as object detections of GstAnalytics. Marks the frame as analysed for the type, even
// without boxes, if the look is `whole`, the analysed region is the whole frame, and the job is not turned. Otherwise
// it notes a partial look, unless the look is `none`.
Status attach_found(const Job &job, const char *type, Look look, int count,
                    const std::function<FoundBox(int)> &box);

}  // namespace cudavision
