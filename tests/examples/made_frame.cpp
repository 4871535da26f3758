// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints, with the example read_metas, a frame that has every kind of meta.
#define main main_of_the_example
#include "read_metas.cpp"
#undef main

#include <gst/video/gstvideometa.h>

#include <cmath>

namespace {

template <typename T, std::size_t n>
GstCudaVisionTensorMeta *add(GstBuffer *frame, const char *id, GstCudaVisionElementType type,
                             const T (&values)[n]) {
  const gsize dims[] = {1, n};
  return gst_cuda_vision_buffer_add_tensor_meta(frame, id, type, 2, dims,
                                                gst_buffer_new_memdup(values, sizeof values));
}

GstBuffer *make_frame() {
  GstBuffer *frame = gst_buffer_new();
  add<guint8>(frame, "bytes", GST_CUDA_VISION_ELEMENT_TYPE_U8, {0, 1, 255});
  add<guint16>(frame, "words", GST_CUDA_VISION_ELEMENT_TYPE_U16, {0, 65535});
  add<guint32>(frame, "counts", GST_CUDA_VISION_ELEMENT_TYPE_U32, {0, 4294967295u});
  add<gint32>(frame, "signed", GST_CUDA_VISION_ELEMENT_TYPE_I32, {-1, G_MAXINT32});
  gst_cuda_vision_tensor_meta_set_geometry(
      add<gfloat>(frame, "reals", GST_CUDA_VISION_ELEMENT_TYPE_F32, {0.1f, -1e-20f, INFINITY}), 640, 480, 1.5,
      2.25, 8, 0);
  add<guint8>(frame, "changed", GST_CUDA_VISION_ELEMENT_TYPE_U8, {1})->n_dims = 1000;
  const GstCudaVisionKeypoint keypoints[] = {{10, 20.5f, 3.5f, 1.57f}, {0.25f, 0, -1, NAN}};
  gst_cuda_vision_buffer_add_keypoints_meta(frame, keypoints, 2);
  const GstCudaVisionLine lines[] = {{12, 0.785f, 230, 0, 5, 100, 105}};
  gst_cuda_vision_buffer_add_lines_meta(frame, lines, 1);
  auto *person = gst_buffer_add_video_region_of_interest_meta(frame, "person", 10, 20, 64, 128);
  person->id = 1;
  gst_video_region_of_interest_meta_add_param(
      person, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 0.75, nullptr));
  auto *face = gst_buffer_add_video_region_of_interest_meta(frame, "face", 30, 22, 16, 20);
  face->id = 2, face->parent_id = 1;
  return frame;
}

}  // namespace

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  GstBuffer *frame = make_frame();
  print_metas(frame);
  gst_buffer_unref(frame);
  frame = gst_buffer_new();
  gst_cuda_vision_buffer_add_keypoints_meta(frame, nullptr, 0);
  gst_cuda_vision_buffer_add_lines_meta(frame, nullptr, 0);
  print_metas(frame);
  gst_buffer_unref(frame);
  return 0;
}
