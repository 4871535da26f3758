// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies all tensors, keypoints and lines of a frame.
#pragma once

#include <gst/cudavision/prelude.h>

G_BEGIN_DECLS

/**
 * gst_cuda_vision_buffer_copy_metas:
 * @buffer: (transfer none): a #GstBuffer
 *
 * Makes a buffer without memory that has copies of the tensors, keypoints and lines of a frame. The copies share the
 * numbers of the frame. They last when the frame is freed, returns to its pool, or loses its metas, and do not keep the
 * pixels of the frame. In Python the functions that find metas call this function themselves.
 *
 * Returns: (transfer full): the copy
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
GstBuffer *gst_cuda_vision_buffer_copy_metas(GstBuffer *buffer);

G_END_DECLS
