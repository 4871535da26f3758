// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/results/attach.h"

#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "gst/base/results/analytics.h"
#include "gst/base/results/frame_notes.h"
#include "gst/meta/free_ids.h"

namespace cudavision {
namespace {

bool attach_region(GstBuffer *buffer, const char *type, const Detection &found, GstStructure *param,
                   gint id) {
  GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta(
      buffer, type, static_cast<guint>(found.x), static_cast<guint>(found.y), static_cast<guint>(found.width),
      static_cast<guint>(found.height));
  if (region == nullptr) {
    gst_structure_free(param);
    return false;
  }
  region->id = id;
  gst_video_region_of_interest_meta_add_param(region, param);
  return true;
}

bool attach_look(const Job &job, const char *type, Look look, int count) {
  const bool is_whole = job.region == Region{0, 0, job.frame.width, job.frame.height} && !job.is_turned;
  if (look == Look::whole && is_whole)
    return gst_cuda_vision_buffer_mark_analysed(job.buffer, type, static_cast<guint>(count), nullptr);
  if (look != Look::none) attach_partial_look(job.buffer, type);
  return true;
}

}  // namespace

Status attach_tensor(const Job &job, const char *id, GstCudaVisionElementType type,
                     std::initializer_list<int> dims, BufferRef data, double step_x, double step_y) {
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

Status attach_map(const Job &job, const char *id, const char *class_name, BufferRef data) {
  // First, because it adds a meta to `data`, which must not be shared yet.
  CUDAVISION_TRY(attach_segmentation(job, data.get(), class_name));
  return attach_tensor(job, id, GST_CUDA_VISION_ELEMENT_TYPE_U8, {job.region.height, job.region.width},
                       std::move(data));
}

Status attach_found(const Job &job, const char *type, Look look, int count,
                    const std::function<FoundBox(int)> &box) {
  FreeIds ids(job.buffer);
  std::vector<Detection> found;
  // push_back() then never fails, which would leak a structure.
  found.reserve(static_cast<std::size_t>(count));
  const GQuark name = g_quark_from_string(type);
  bool ok = attach_look(job, type, look, count);
  for (int i = 0; i < count && ok; ++i) {
    const auto [place, confidence, param] = box(i);
    found.push_back(
        {0, name, job.region.x + place.x, job.region.y + place.y, place.width, place.height, confidence});
    ok = attach_region(job.buffer, type, found.back(), param, ids.next());
  }
  if (!ok) return invalid_argument("the boxes could not be attached");
  return attach_detections(job.buffer, count, [&](int i) { return found[static_cast<std::size_t>(i)]; });
}

}  // namespace cudavision
