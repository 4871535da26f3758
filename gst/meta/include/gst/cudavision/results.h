// SPDX-License-Identifier: LGPL-2.1-or-later
// All tensors, keypoints and lines of a frame.
#pragma once

#include <gst/cudavision/prelude.h>

G_BEGIN_DECLS

/**
 * gst_cuda_vision_buffer_copy_metas:
 * @buffer: (transfer none): a #GstBuffer
 *
 * Makes a buffer without memory, with copies of the tensors, keypoints and lines of a frame. Both share the numbers. The
 * copy keeps the results when the frame is freed, returns to its pool, or loses its metas, and it does not keep the
 * pixels of the frame. In Python the functions that find metas do this themselves.
 *
 * Returns: (transfer full): the copy
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
GstBuffer *gst_cuda_vision_buffer_copy_metas(GstBuffer *buffer);

G_END_DECLS
