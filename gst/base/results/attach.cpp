// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches an operation's result to its frame.
#include "gst/base/results/attach.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "gst/base/results/analytics.h"

namespace cudavision {

Status attach_tensor(const Job &job, const char *id, GstCudaVisionElementType type,
                     std::initializer_list<int> dims, OwnedBuffer data, double step_x, double step_y) {
  gsize sizes[GST_CUDA_VISION_TENSOR_MAX_DIMS] = {};
  // the meta refuses more dimensions
  std::copy_n(dims.begin(), std::min<std::size_t>(dims.size(), std::size(sizes)), sizes);
  GstCudaVisionTensorMeta *meta = gst_cuda_vision_buffer_add_tensor_meta(
      job.buffer, id, type, static_cast<guint>(dims.size()), sizes, data.release());
  if (meta == nullptr) return invalid_argument(std::string("the tensor ") + id + " could not be attached");
  gst_cuda_vision_tensor_meta_set_geometry(meta, static_cast<guint>(job.frame.width),
                                           static_cast<guint>(job.frame.height), job.region.x, job.region.y,
                                           step_x, step_y);
  meta->is_drawn = job.draw;
  return attach_gst_tensor(job.buffer, meta);
}

Status attach_map(const Job &job, const char *id, const char *class_name, OwnedBuffer data) {
  // First, because it adds a meta to `data`, which must not be shared yet.
  CUDAVISION_TRY(attach_segmentation(job, data.get(), class_name));
  return attach_tensor(job, id, GST_CUDA_VISION_ELEMENT_TYPE_U8, {job.region.height, job.region.width},
                       std::move(data));
}

}  // namespace cudavision
