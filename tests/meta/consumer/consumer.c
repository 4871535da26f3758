// SPDX-License-Identifier: LGPL-2.1-or-later
// A user's program: uses only the installed library, attaches a tensor and reads it back.
#include <gst/cudavision/cudavision.h>
#include <stdio.h>

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  GstBuffer *frame = gst_buffer_new();
  const guint32 counts[] = {1, 2, 3, 4};
  const gsize dims[] = {1, 4};
  gst_cuda_vision_buffer_add_tensor_meta(frame, "histogram", GST_CUDA_VISION_ELEMENT_TYPE_U32, 2, dims,
                                         gst_buffer_new_memdup(counts, sizeof counts));
  const GstCudaVisionKeypoint keypoint = {1.5f, 2.5f, 10.f, 0.f};
  gst_cuda_vision_buffer_add_keypoints_meta(frame, &keypoint, 1);

  GstCudaVisionTensorMeta *meta = gst_cuda_vision_buffer_get_tensor_meta(frame, "histogram");
  GBytes *bytes = gst_cuda_vision_tensor_meta_get_bytes(meta);
  const guint32 *read = g_bytes_get_data(bytes, NULL);
  guint n_keypoints = 0;
  const GstCudaVisionKeypoint *read_keypoint = gst_cuda_vision_keypoints_meta_get_keypoints(
      gst_cuda_vision_buffer_get_keypoints_meta(frame), &n_keypoints);
  printf("%s %s [%" G_GSIZE_FORMAT "][%" G_GSIZE_FORMAT "]: %u %u %u %u; %u keypoint at (%.1f, %.1f)\n",
         gst_cuda_vision_tensor_meta_get_id(meta), gst_cuda_vision_element_type_to_string(meta->element_type),
         meta->dims[0], meta->dims[1], read[0], read[1], read[2], read[3], n_keypoints, read_keypoint->x,
         read_keypoint->y);
  g_bytes_unref(bytes);
  gst_buffer_unref(frame);
  return 0;
}
