// SPDX-License-Identifier: LGPL-2.1-or-later
// Straight lines on a frame.
#pragma once

#include <gst/cudavision/prelude.h>

G_BEGIN_DECLS

typedef struct _GstCudaVisionLine GstCudaVisionLine;
typedef struct _GstCudaVisionLinesMeta GstCudaVisionLinesMeta;

/**
 * GstCudaVisionLine:
 * @rho: the signed distance of the line from the origin in pixels, along its normal
 * @theta: the direction of the line's normal, in radians from +x toward +y, in [0, pi)
 * @votes: the number of pixels that voted for the line
 * @x1: the x of the end with the smaller x (or, if the line is vertical, with the smaller y), in pixels
 * @y1: the y of that end, in pixels
 * @x2: the x of the other end, in pixels
 * @y2: the y of the other end, in pixels
 *
 * The straight line x cos(theta) + y sin(theta) = rho. The origin is the centre of the top left pixel, x runs
 * to the right, y downwards, pixel centres are at integers. The ends are those of the line's visible part.
 *
 * Since: 0.1
 */
struct _GstCudaVisionLine {
  gfloat rho;
  gfloat theta;
  guint votes;
  gfloat x1;
  gfloat y1;
  gfloat x2;
  gfloat y2;
};

/**
 * GstCudaVisionLinesMeta:
 * @meta: the parent #GstMeta
 *
 * The straight lines of a frame, most votes first. A meta without lines means that none was found.
 *
 * A copy of the frame shares the lines with it. When the video is scaled, the ends are multiplied by the ratio of the
 * sizes sx and sy, and rho and theta become those of the scaled line, whose normal is (cos(theta)/sx, sin(theta)/sy).
 * From GStreamer 1.28 lines also follow cropping, borders, mirroring and rotation: their ends are clipped to what
 * remains visible, and lines that leave the frame are dropped. In older versions these, and scaling that changes the
 * display aspect ratio, drop the whole meta.
 *
 * The meta, and (transfer none) results of its accessors, are valid while the meta is on its buffer: until
 * the buffer is freed or returns to its pool.
 *
 * Since: 0.1
 */
struct _GstCudaVisionLinesMeta {
  GstMeta meta;

  /*< private >*/
  GBytes *items;
};

/**
 * GST_CUDA_VISION_TYPE_LINE: (skip)
 *
 * The boxed #GType of #GstCudaVisionLine.
 *
 * Since: 0.1
 */
#define GST_CUDA_VISION_TYPE_LINE (gst_cuda_vision_line_get_type())

/**
 * gst_cuda_vision_line_get_type:
 *
 * Registers the boxed type with GObject.
 *
 * Returns: the boxed #GType of #GstCudaVisionLine
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GType gst_cuda_vision_line_get_type(void);

/**
 * GST_CUDA_VISION_LINES_META_API_TYPE: (skip)
 *
 * The #GType of the API of #GstCudaVisionLinesMeta.
 *
 * Since: 0.1
 */
#define GST_CUDA_VISION_LINES_META_API_TYPE (gst_cuda_vision_lines_meta_api_get_type())

/**
 * GST_CUDA_VISION_LINES_META_INFO: (skip)
 *
 * The #GstMetaInfo of #GstCudaVisionLinesMeta.
 *
 * Since: 0.1
 */
#define GST_CUDA_VISION_LINES_META_INFO (gst_cuda_vision_lines_meta_get_info())

/**
 * gst_cuda_vision_lines_meta_api_get_type:
 *
 * Registers the API of the meta with GStreamer. `gst_buffer_iterate_meta_filtered()` finds metas by this type.
 *
 * Returns: the #GType of the API of #GstCudaVisionLinesMeta
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GType gst_cuda_vision_lines_meta_api_get_type(void);

/**
 * gst_cuda_vision_lines_meta_get_info: (skip)
 *
 * The first call registers the meta with GStreamer; metas cannot be deserialised before.
 *
 * Returns: (transfer none): how GStreamer handles the meta
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
const GstMetaInfo *gst_cuda_vision_lines_meta_get_info(void);

/**
 * gst_cuda_vision_buffer_add_lines_meta:
 * @buffer: (transfer none): a writable #GstBuffer
 * @lines: (array length=n_lines) (transfer none) (nullable): the lines, most votes first; they are copied
 * @n_lines: the number of lines; 0 means that none was found
 *
 * Attaches straight lines to a frame. A buffer that is not writable is refused with a critical message.
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer; %NULL if it was refused
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GstCudaVisionLinesMeta *gst_cuda_vision_buffer_add_lines_meta(GstBuffer *buffer,
                                                              const GstCudaVisionLine *lines, guint n_lines);

/**
 * gst_cuda_vision_buffer_get_lines_meta:
 * @buffer: (transfer none): a #GstBuffer
 *
 * Finds the straight lines of a frame.
 *
 * Returns: (transfer none) (nullable): the first #GstCudaVisionLinesMeta that was attached, owned by @buffer;
 * %NULL if there is none
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GstCudaVisionLinesMeta *gst_cuda_vision_buffer_get_lines_meta(GstBuffer *buffer);

/**
 * gst_cuda_vision_lines_meta_get_n:
 * @meta: (transfer none): a #GstCudaVisionLinesMeta
 *
 * Counts the lines.
 *
 * Returns: the number of lines
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
guint gst_cuda_vision_lines_meta_get_n(const GstCudaVisionLinesMeta *meta);

/**
 * gst_cuda_vision_lines_meta_get_line:
 * @meta: (transfer none): a #GstCudaVisionLinesMeta
 * @index: the index of the line, from 0
 * @line: (out caller-allocates): the line; all zero if there is no such line
 *
 * Reads one line.
 *
 * Returns: %TRUE if there is a line with that index
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
gboolean gst_cuda_vision_lines_meta_get_line(const GstCudaVisionLinesMeta *meta, guint index,
                                             GstCudaVisionLine *line);

/**
 * gst_cuda_vision_lines_meta_get_lines:
 * @meta: (transfer none): a #GstCudaVisionLinesMeta
 * @n_lines: (out): the number of lines
 *
 * Gives access to all lines without a copy. Bindings make an object of each:
 * gst_cuda_vision_lines_meta_get_bytes() is faster for them.
 *
 * Returns: (array length=n_lines) (transfer none) (nullable): the lines, most votes first; %NULL if none
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
const GstCudaVisionLine *gst_cuda_vision_lines_meta_get_lines(const GstCudaVisionLinesMeta *meta,
                                                              guint *n_lines);

/**
 * gst_cuda_vision_lines_meta_get_bytes:
 * @meta: (transfer none): a #GstCudaVisionLinesMeta
 *
 * Gives all lines as bytes: for each line 28 of them, which are rho and theta as IEEE 754 numbers of 32 bits,
 * votes as an unsigned integer of 32 bits, and x1, y1, x2 and y2 as IEEE 754 numbers of 32 bits, in the byte
 * order of the machine. In Python, `struct.iter_unpack("=2fI4f", data)` reads them.
 *
 * Returns: (transfer full): the lines, in the order of gst_cuda_vision_lines_meta_get_lines(), without a
 * copy; they stay valid after the meta is gone
 *
 * Since: 0.2
 */
GST_CUDA_VISION_API
GBytes *gst_cuda_vision_lines_meta_get_bytes(const GstCudaVisionLinesMeta *meta);

G_END_DECLS
