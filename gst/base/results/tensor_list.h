// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensors that a frame carries.
#pragma once

#include <gst/cudavision/cudavision.h>

#include <memory>

namespace cudavision {

using TensorList = std::unique_ptr<GPtrArray, decltype(&g_ptr_array_unref)>;

// The elements are pointers to GstCudaVisionTensorMeta, in the order in which they were attached.
inline TensorList tensors_of(GstBuffer *buffer) {
  return {gst_cuda_vision_buffer_get_tensor_metas(buffer), g_ptr_array_unref};
}

}  // namespace cudavision
