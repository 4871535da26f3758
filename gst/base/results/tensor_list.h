// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensors that a frame carries.
#pragma once

#include <gst/cudavision/cudavision.h>

#include <string_view>
#include <vector>

#include "gst/meta/reading.h"

namespace cudavision {

using TensorList = std::vector<const GstCudaVisionTensorMeta *>;

// In the order in which they were attached.
inline TensorList tensors_of(GstBuffer *buffer) {
  TensorList tensors;
  gpointer state = nullptr;
  while (GstMeta *meta =
             gst_buffer_iterate_meta_filtered(buffer, &state, GST_CUDA_VISION_TENSOR_META_API_TYPE))
    tensors.push_back(reinterpret_cast<GstCudaVisionTensorMeta *>(meta));
  return tensors;
}

inline bool is_named(const GstCudaVisionTensorMeta &tensor, std::string_view id) {
  const char *own = text_of(tensor.id);
  return own != nullptr && id == own;
}

}  // namespace cudavision
