// SPDX-License-Identifier: LGPL-2.1-or-later
// Points of interest on a frame.
#pragma once

#include <gst/cudavision/prelude.h>

G_BEGIN_DECLS

typedef struct _GstCudaVisionKeypoint GstCudaVisionKeypoint;
typedef struct _GstCudaVisionKeypointsMeta GstCudaVisionKeypointsMeta;

/**
 * GstCudaVisionKeypoint:
 * @x: in pixels; the origin is the centre of the top left pixel, x runs to the right
 * @y: in pixels, downwards; pixel centres are at integers
 * @response: the strength of the point in the unit of the element that found it; greater is stronger
 * @angle: the direction of the intensity's gradient, in radians from +x toward +y; NaN if undefined
 *
 * A point of interest.
 *
 * Since: 0.1
 */
struct _GstCudaVisionKeypoint {
  gfloat x;
  gfloat y;
  gfloat response;
  gfloat angle;
};

/**
 * GstCudaVisionKeypointsMeta:
 * @meta: the parent #GstMeta
 *
 * The points of interest of a frame. A meta without points means that none was found.
 *
 * A copy of the frame shares the points with it. When the video is scaled, x and y are multiplied by the ratio of the
 * sizes, and the angle becomes that of the scaled gradient, in (-pi, pi]. From GStreamer 1.28 points also follow
 * cropping, borders, mirroring and rotation; points that leave the frame are dropped. In older versions these, and
 * scaling that changes the display aspect ratio, drop the whole meta.
 *
 * The meta, and (transfer none) results of its accessors, are valid while the meta is on its buffer: until
 * the buffer is freed or returns to its pool.
 *
 * Since: 0.1
 */
struct _GstCudaVisionKeypointsMeta {
  GstMeta meta;

  /*< private >*/
  GBytes *items;
};

/**
 * GST_CUDA_VISION_TYPE_KEYPOINT: (skip)
 *
 * The boxed #GType of #GstCudaVisionKeypoint.
 *
 * Since: 0.1
 */
#define GST_CUDA_VISION_TYPE_KEYPOINT (gst_cuda_vision_keypoint_get_type())

/**
 * gst_cuda_vision_keypoint_get_type:
 *
 * Registers the boxed type with GObject.
 *
 * Returns: the boxed #GType of #GstCudaVisionKeypoint
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GType gst_cuda_vision_keypoint_get_type(void);

/**
 * GST_CUDA_VISION_KEYPOINTS_META_API_TYPE: (skip)
 *
 * The #GType of the API of #GstCudaVisionKeypointsMeta.
 *
 * Since: 0.1
 */
#define GST_CUDA_VISION_KEYPOINTS_META_API_TYPE (gst_cuda_vision_keypoints_meta_api_get_type())

/**
 * GST_CUDA_VISION_KEYPOINTS_META_INFO: (skip)
 *
 * The #GstMetaInfo of #GstCudaVisionKeypointsMeta.
 *
 * Since: 0.1
 */
#define GST_CUDA_VISION_KEYPOINTS_META_INFO (gst_cuda_vision_keypoints_meta_get_info())

/**
 * gst_cuda_vision_keypoints_meta_api_get_type:
 *
 * Registers the API of the meta with GStreamer. `gst_buffer_iterate_meta_filtered()` finds metas by this type.
 *
 * Returns: the #GType of the API of #GstCudaVisionKeypointsMeta
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GType gst_cuda_vision_keypoints_meta_api_get_type(void);

/**
 * gst_cuda_vision_keypoints_meta_get_info: (skip)
 *
 * The first call registers the meta with GStreamer; metas cannot be deserialised before.
 *
 * Returns: (transfer none): how GStreamer handles the meta
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
const GstMetaInfo *gst_cuda_vision_keypoints_meta_get_info(void);

/**
 * gst_cuda_vision_buffer_add_keypoints_meta:
 * @buffer: (transfer none): a writable #GstBuffer
 * @keypoints: (array length=n_keypoints) (transfer none) (nullable): the points, in the order in which they
 * are to be read; they are copied
 * @n_keypoints: the number of points; 0 means that none was found
 *
 * Attaches points of interest to a frame. A buffer that is not writable is refused with a critical message.
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer; %NULL if it was refused
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GstCudaVisionKeypointsMeta *gst_cuda_vision_buffer_add_keypoints_meta(GstBuffer *buffer,
                                                                      const GstCudaVisionKeypoint *keypoints,
                                                                      guint n_keypoints);

/**
 * gst_cuda_vision_buffer_get_keypoints_meta:
 * @buffer: (transfer none): a #GstBuffer
 *
 * Finds the points of interest of a frame.
 *
 * Returns: (transfer none) (nullable): the first #GstCudaVisionKeypointsMeta that was attached, owned by
 * @buffer; %NULL if there is none
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GstCudaVisionKeypointsMeta *gst_cuda_vision_buffer_get_keypoints_meta(GstBuffer *buffer);

/**
 * gst_cuda_vision_keypoints_meta_get_n:
 * @meta: (transfer none): a #GstCudaVisionKeypointsMeta
 *
 * Counts the points.
 *
 * Returns: the number of points
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
guint gst_cuda_vision_keypoints_meta_get_n(const GstCudaVisionKeypointsMeta *meta);

/**
 * gst_cuda_vision_keypoints_meta_get_keypoint:
 * @meta: (transfer none): a #GstCudaVisionKeypointsMeta
 * @index: the index of the point, from 0
 * @keypoint: (out caller-allocates): the point; all zero if there is no such point
 *
 * Reads one point.
 *
 * Returns: %TRUE if there is a point with that index
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
gboolean gst_cuda_vision_keypoints_meta_get_keypoint(const GstCudaVisionKeypointsMeta *meta, guint index,
                                                     GstCudaVisionKeypoint *keypoint);

/**
 * gst_cuda_vision_keypoints_meta_get_keypoints:
 * @meta: (transfer none): a #GstCudaVisionKeypointsMeta
 * @n_keypoints: (out): the number of points
 *
 * Gives access to all points without a copy. Bindings make an object of each:
 * gst_cuda_vision_keypoints_meta_get_bytes() is faster for them.
 *
 * Returns: (array length=n_keypoints) (transfer none) (nullable): the points, in the order of the element
 * that found them; %NULL if there are none
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
const GstCudaVisionKeypoint *gst_cuda_vision_keypoints_meta_get_keypoints(
    const GstCudaVisionKeypointsMeta *meta, guint *n_keypoints);

/**
 * gst_cuda_vision_keypoints_meta_get_bytes:
 * @meta: (transfer none): a #GstCudaVisionKeypointsMeta
 *
 * Gives all points as bytes: for each point 16 of them, which are x, y, response and angle as IEEE 754
 * numbers of 32 bits, in the byte order of the machine. In Python, `numpy.frombuffer(data,
 * numpy.float32).reshape(-1, 4)` and `struct.iter_unpack("=4f", data)` read them.
 *
 * Returns: (transfer full): the points, in the order of gst_cuda_vision_keypoints_meta_get_keypoints(),
 * without a copy; they stay valid after the meta is gone
 *
 * Since: 0.2
 */
GST_CUDA_VISION_API
GBytes *gst_cuda_vision_keypoints_meta_get_bytes(const GstCudaVisionKeypointsMeta *meta);

G_END_DECLS
