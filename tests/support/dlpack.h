// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by the tests of arrays: tensors and frames as DLPack's structs, released at the end.
#pragma once

#include <gst/cudavision/cudavision.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "gst/meta/dlpack_abi.h"

namespace cudavision::test {

inline constexpr GstCudaVisionDlpackFlags kNone = GST_CUDA_VISION_DLPACK_FLAGS_NONE,
                                          kCopy = GST_CUDA_VISION_DLPACK_FLAGS_COPY,
                                          kHost = GST_CUDA_VISION_DLPACK_FLAGS_HOST,
                                          kUnversioned = GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED;
inline constexpr gint64 kNoStream = -1, kLegacyStream = 1;

struct ReleaseTensor {
  void operator()(DLManagedTensorVersioned *tensor) const { tensor->deleter(tensor); }
};
using Tensor = std::unique_ptr<DLManagedTensorVersioned, ReleaseTensor>;

inline Tensor dlpack(const GstCudaVisionTensorMeta *meta, GstCudaVisionDlpackFlags flags = kNone,
                     gint64 stream = kLegacyStream) {
  GError *error = nullptr;
  Tensor tensor(gst_cuda_vision_tensor_meta_to_dlpack(meta, flags, stream, &error));
  EXPECT_EQ(error, nullptr) << error->message;
  return tensor;
}

inline Tensor dlpack(GstBuffer *frame, GstCaps *caps, guint plane, GstCudaVisionDlpackFlags flags = kNone,
                     gint64 stream = kLegacyStream) {
  GError *error = nullptr;
  Tensor tensor(gst_cuda_vision_frame_to_dlpack(frame, caps, plane, flags, stream, &error));
  EXPECT_EQ(error, nullptr) << error->message;
  return tensor;
}

// Calls make(&error), which must fail, and returns the text of the error.
template <typename Make>
std::string error_of(const Make &make) {
  GError *error = nullptr;
  EXPECT_FALSE(make(&error));
  if (error == nullptr) return "no error";
  const std::string message = error->message;
  g_error_free(error);
  return message;
}

}  // namespace cudavision::test
