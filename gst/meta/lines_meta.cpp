// SPDX-License-Identifier: LGPL-2.1-or-later
// The meta that holds straight lines.
#include <gst/cudavision/linesmeta.h>

#include "gst/meta/list_meta.h"

namespace {

using List = cudavision::ListMeta<GstCudaVisionLinesMeta, GstCudaVisionLine>;
static_assert(sizeof(GstCudaVisionLine) == 7 * sizeof(float),
              "the documented layout of get_bytes() has no gaps");

gpointer copy_line(gpointer line) { return g_memdup2(line, sizeof(GstCudaVisionLine)); }

}  // namespace

GType gst_cuda_vision_line_get_type() {
  static const GType type = g_boxed_type_register_static("GstCudaVisionLine", copy_line, g_free);
  return type;
}

GType gst_cuda_vision_lines_meta_api_get_type() {
  static const GType type = cudavision::register_meta_api("GstCudaVisionLinesMetaAPI");
  return type;
}

const GstMetaInfo *gst_cuda_vision_lines_meta_get_info() {
  static const GstMetaInfo *const info = cudavision::register_meta<GstCudaVisionLinesMeta, List>(
      GST_CUDA_VISION_LINES_META_API_TYPE, "GstCudaVisionLinesMeta");
  return info;
}

GstCudaVisionLinesMeta *gst_cuda_vision_buffer_add_lines_meta(GstBuffer *buffer,
                                                              const GstCudaVisionLine *lines, guint n_lines) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  g_return_val_if_fail(gst_buffer_is_writable(buffer), nullptr);
  g_return_val_if_fail(lines != nullptr || n_lines == 0, nullptr);
  return List::attach_copy(buffer, GST_CUDA_VISION_LINES_META_INFO, lines, n_lines);
}

GstCudaVisionLinesMeta *gst_cuda_vision_buffer_get_lines_meta(GstBuffer *buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  return reinterpret_cast<GstCudaVisionLinesMeta *>(
      gst_buffer_get_meta(buffer, GST_CUDA_VISION_LINES_META_API_TYPE));
}

guint gst_cuda_vision_lines_meta_get_n(const GstCudaVisionLinesMeta *meta) {
  g_return_val_if_fail(meta != nullptr, 0);
  guint count = 0;
  List::items(meta, &count);
  return count;
}

gboolean gst_cuda_vision_lines_meta_get_line(const GstCudaVisionLinesMeta *meta, guint index,
                                             GstCudaVisionLine *line) {
  g_return_val_if_fail(meta != nullptr, FALSE);
  g_return_val_if_fail(line != nullptr, FALSE);
  return List::item(meta, index, line);
}

const GstCudaVisionLine *gst_cuda_vision_lines_meta_get_lines(const GstCudaVisionLinesMeta *meta,
                                                              guint *n_lines) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  g_return_val_if_fail(n_lines != nullptr, nullptr);
  return List::items(meta, n_lines);
}

GBytes *gst_cuda_vision_lines_meta_get_bytes(const GstCudaVisionLinesMeta *meta) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  return List::bytes(meta);
}
