// SPDX-License-Identifier: LGPL-2.1-or-later
// The type and the dimensions of a tensor, checked.
#pragma once

#include <gst/cudavision/tensormeta.h>

namespace cudavision {

class TensorShape {
 public:
  // dims: outermost first; may be nullptr when there are none.
  TensorShape(GstCudaVisionElementType element_type, guint n_dims, const gsize *dims);

  // Says why it is no shape; nullptr when it is one.
  const char *error() const { return error_; }
  // All elements together in bytes; 0 when it is no shape.
  gsize size() const { return size_; }
  // Into the fields of a meta; only when it is a shape.
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
