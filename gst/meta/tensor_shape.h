// SPDX-License-Identifier: LGPL-2.1-or-later
// The element type and the dimensions of a tensor, validated.
#pragma once

#include <gst/cudavision/tensormeta.h>

namespace cudavision {

class TensorShape {
 public:
  // dims: outermost first; may be nullptr if n_dims is 0.
  TensorShape(GstCudaVisionElementType element_type, guint n_dims, const gsize *dims);

  // The reason why the shape is invalid; nullptr if it is valid.
  const char *error() const { return error_; }
  // The total size of the elements in bytes, at most G_MAXSSIZE; 0 if the shape is invalid.
  gsize size() const { return size_; }
  // Stores the shape in the fields of a meta. The shape must be valid.
  void store(GstCudaVisionTensorMeta *meta) const;

 private:
  const char *check();

  GstCudaVisionElementType element_type_;
  guint n_dims_;
  const gsize *dims_;
  gsize size_ = 0;
  const char *error_;
};

}  // namespace cudavision
