// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks the element type and the dimensions of a tensor.
#include "gst/meta/tensor_shape.h"

#include <algorithm>

namespace cudavision {

static_assert(GST_CUDA_VISION_TENSOR_MAX_DIMS == 8, "the text of the error says 8");

TensorShape::TensorShape(GstCudaVisionElementType element_type, guint n_dims, const gsize *dims)
    : element_type_(element_type), n_dims_(n_dims), dims_(dims), error_(check()) {}

const char *TensorShape::check() {
  const gsize element_size = gst_cuda_vision_element_type_size(element_type_);
  if (element_size == 0) return "unknown element type";
  if (n_dims_ == 0) return "no dimensions";
  if (n_dims_ > GST_CUDA_VISION_TENSOR_MAX_DIMS) return "more than 8 dimensions";
  gsize size = element_size;
  for (guint i = 0; i < n_dims_; ++i) {
    if (dims_[i] == 0) return "a dimension of size 0";
    if (!g_size_checked_mul(&size, size, dims_[i]) || size > G_MAXSSIZE)
      return "larger than the address space";
  }
  size_ = size;
  return nullptr;
}

void TensorShape::store(GstCudaVisionTensorMeta *meta) const {
  meta->element_type = element_type_;
  meta->n_dims = n_dims_;
  std::copy_n(dims_, n_dims_, meta->dims);
}

}  // namespace cudavision
