// SPDX-License-Identifier: LGPL-2.1-or-later
// The meta that holds keypoints.
#include <gst/cudavision/keypointsmeta.h>

#include "gst/meta/list_meta.h"

namespace {

using List = cudavision::ListMeta<GstCudaVisionKeypointsMeta, GstCudaVisionKeypoint>;
static_assert(sizeof(GstCudaVisionKeypoint) == 4 * sizeof(float),
              "the documented layout of get_bytes() has no gaps");

gpointer copy_keypoint(gpointer keypoint) { return g_memdup2(keypoint, sizeof(GstCudaVisionKeypoint)); }

}  // namespace

GType gst_cuda_vision_keypoint_get_type() {
  static const GType type = g_boxed_type_register_static("GstCudaVisionKeypoint", copy_keypoint, g_free);
  return type;
}

GType gst_cuda_vision_keypoints_meta_api_get_type() {
  static const GType type = cudavision::register_meta_api("GstCudaVisionKeypointsMetaAPI");
  return type;
}

const GstMetaInfo *gst_cuda_vision_keypoints_meta_get_info() {
  static const GstMetaInfo *const info = cudavision::register_meta<GstCudaVisionKeypointsMeta, List>(
      GST_CUDA_VISION_KEYPOINTS_META_API_TYPE, "GstCudaVisionKeypointsMeta");
  return info;
}

GstCudaVisionKeypointsMeta *gst_cuda_vision_buffer_add_keypoints_meta(GstBuffer *buffer,
                                                                      const GstCudaVisionKeypoint *keypoints,
                                                                      guint n_keypoints) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  g_return_val_if_fail(gst_buffer_is_writable(buffer), nullptr);
  g_return_val_if_fail(keypoints != nullptr || n_keypoints == 0, nullptr);
  return List::attach_copy(buffer, GST_CUDA_VISION_KEYPOINTS_META_INFO, keypoints, n_keypoints);
}

GstCudaVisionKeypointsMeta *gst_cuda_vision_buffer_get_keypoints_meta(GstBuffer *buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  return reinterpret_cast<GstCudaVisionKeypointsMeta *>(
      gst_buffer_get_meta(buffer, GST_CUDA_VISION_KEYPOINTS_META_API_TYPE));
}

guint gst_cuda_vision_keypoints_meta_get_n(const GstCudaVisionKeypointsMeta *meta) {
  g_return_val_if_fail(meta != nullptr, 0);
  guint count = 0;
  List::items(meta, &count);
  return count;
}

gboolean gst_cuda_vision_keypoints_meta_get_keypoint(const GstCudaVisionKeypointsMeta *meta, guint index,
                                                     GstCudaVisionKeypoint *keypoint) {
  g_return_val_if_fail(meta != nullptr, FALSE);
  g_return_val_if_fail(keypoint != nullptr, FALSE);
  return List::item(meta, index, keypoint);
}

const GstCudaVisionKeypoint *gst_cuda_vision_keypoints_meta_get_keypoints(
    const GstCudaVisionKeypointsMeta *meta, guint *n_keypoints) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  g_return_val_if_fail(n_keypoints != nullptr, nullptr);
  return List::items(meta, n_keypoints);
}

GBytes *gst_cuda_vision_keypoints_meta_get_bytes(const GstCudaVisionKeypointsMeta *meta) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  return List::bytes(meta);
}
