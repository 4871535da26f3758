// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies the results of a frame without its pixels.
#include <gst/cudavision/keypointsmeta.h>
#include <gst/cudavision/linesmeta.h>
#include <gst/cudavision/results.h>
#include <gst/cudavision/tensormeta.h>

GstBuffer *gst_cuda_vision_buffer_copy_metas(GstBuffer *buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  GstBuffer *copy = gst_buffer_new();
  GstMetaTransformCopy whole = {FALSE, 0, G_MAXSIZE};
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta(buffer, &state))
    if (meta->info == GST_CUDA_VISION_TENSOR_META_INFO || meta->info == GST_CUDA_VISION_KEYPOINTS_META_INFO ||
        meta->info == GST_CUDA_VISION_LINES_META_INFO)
      meta->info->transform_func(copy, meta, buffer, _gst_meta_transform_copy, &whole);
  return copy;
}
