// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the tensors of a buffer in element tests.
#pragma once

#include <gst/cudavision/cudavision.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/elements/harness.h"

namespace cudavision::test {

// Pushes one frame and returns the output buffer.
inline Owned<GstBuffer> buffer_from(Harness *harness, const VideoFrame &frame) {
  harness->negotiate(frame);
  Owned<GstBuffer> buffer = harness->exchange(frame.buffer());
  EXPECT_NE(buffer, nullptr);
  return buffer;
}

inline GstCudaVisionTensorMeta *tensor_of(const Owned<GstBuffer> &buffer, const char *id) {
  GstCudaVisionTensorMeta *meta = gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), id);
  EXPECT_NE(meta, nullptr) << id;
  return meta;
}

inline int tensor_count(const Owned<GstBuffer> &buffer) {
  return static_cast<int>(gst_buffer_get_n_meta(buffer.get(), GST_CUDA_VISION_TENSOR_META_API_TYPE));
}

inline std::vector<std::size_t> dims_of(const GstCudaVisionTensorMeta *meta) {
  return {meta->dims, meta->dims + meta->n_dims};
}

// The first elements of a buffer of Ts, mapped for the CPU.
template <typename T>
std::vector<T> elements_of(GstBuffer *data, std::size_t count) {
  std::vector<T> elements(count);
  GstMapInfo map;
  if (!gst_buffer_map(data, &map, GST_MAP_READ)) {
    ADD_FAILURE() << "the tensor cannot be mapped";
    return {};
  }
  EXPECT_GE(map.size, count * sizeof(T));
  std::memcpy(elements.data(), map.data, count * sizeof(T));
  gst_buffer_unmap(data, &map);
  return elements;
}

template <typename T>
std::vector<T> elements_of(const GstCudaVisionTensorMeta *meta) {
  return elements_of<T>(meta->data, gst_cuda_vision_tensor_meta_get_size(meta) / sizeof(T));
}

// The geometry of a tensor in its frame.
struct Geometry {
  guint frame_width, frame_height;
  double origin_x, origin_y, step_x, step_y;

  friend bool operator==(const Geometry &, const Geometry &) = default;
};
inline Geometry geometry_of(const GstCudaVisionTensorMeta *m) {
  return {m->frame_width, m->frame_height, m->origin_x, m->origin_y, m->step_x, m->step_y};
}

}  // namespace cudavision::test
