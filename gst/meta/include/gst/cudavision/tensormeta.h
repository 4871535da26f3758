// SPDX-License-Identifier: LGPL-2.1-or-later
// Arrays of numbers on a frame: histograms, descriptors, flow fields, maps.
#pragma once

#include <gst/cudavision/elementtype.h>

G_BEGIN_DECLS

/**
 * GST_CUDA_VISION_TENSOR_MAX_DIMS:
 *
 * The maximum number of dimensions of a tensor.
 *
 * Since: 0.1
 */
#define GST_CUDA_VISION_TENSOR_MAX_DIMS 8

typedef struct _GstCudaVisionTensorMeta GstCudaVisionTensorMeta;

/**
 * GstCudaVisionTensorMeta:
 * @meta: the parent #GstMeta
 * @id: names the contents, for example "histogram"; see gst_cuda_vision_tensor_meta_get_id()
 * @element_type: the type of the numbers
 * @n_dims: the number of dimensions, 1 to %GST_CUDA_VISION_TENSOR_MAX_DIMS
 * @dims: the size of each dimension, outermost first; see gst_cuda_vision_tensor_meta_get_dims()
 * @data: (nullable): the numbers, row-major without padding, in the byte order of the machine
 * @frame_width: the width in pixels of the frame that the tensor was computed from; 0 if unknown
 * @frame_height: its height in pixels; 0 if unknown
 * @origin_x: the x of element (0, 0) in that frame, in pixels
 * @origin_y: the y of element (0, 0) in that frame, in pixels
 * @step_x: the distance in x from one column of elements to the next, in pixels; 0 if there are none
 * @step_y: the distance in y from one row of elements to the next, in pixels; 0 if there are none
 * @is_drawn: whether the element that attached the tensor has also drawn it on the frame, so that `cudavisionoverlay`
 * does not draw it again
 *
 * An array of numbers that was computed from a frame, such as a histogram or a vector field.
 *
 * Positions are in pixels of the frame of @frame_width x @frame_height: the origin is top left, x runs to the right, y
 * downwards, and pixel centres are at integers. When the video is scaled, a tensor does not change: multiply its
 * positions by the ratio of the sizes of the two frames. From GStreamer 1.28 on, a tensor also follows cropping and
 * borders: @frame_width, @frame_height, @origin_x and @origin_y become those of the cropped or enlarged frame, in
 * pixels before any scaling. A tensor is dropped if the picture is mirrored or rotated, and, if GStreamer is older,
 * also if it is cropped or its display aspect ratio changes.
 *
 * The data may lie on a GPU. It is downloaded only when @data is mapped with %GST_MAP_READ. A copy of the
 * frame shares @data.
 *
 * The meta, and (transfer none) results of its accessors, are valid while the meta is on its buffer: until
 * the buffer is freed or returns to its pool. To keep the numbers longer, take a reference to @data or call
 * gst_cuda_vision_tensor_meta_get_bytes(). The fields are read-only.
 *
 * Since: 0.1
 */
struct _GstCudaVisionTensorMeta {
  GstMeta meta;

  GQuark id;
  GstCudaVisionElementType element_type;
  guint n_dims;
  gsize dims[GST_CUDA_VISION_TENSOR_MAX_DIMS];
  GstBuffer *data;

  guint frame_width;
  guint frame_height;
  gdouble origin_x;
  gdouble origin_y;
  gdouble step_x;
  gdouble step_y;

  gboolean is_drawn;
};

/**
 * GST_CUDA_VISION_TENSOR_META_API_TYPE: (skip)
 *
 * The #GType of the API of #GstCudaVisionTensorMeta.
 *
 * Since: 0.1
 */
#define GST_CUDA_VISION_TENSOR_META_API_TYPE (gst_cuda_vision_tensor_meta_api_get_type())

/**
 * GST_CUDA_VISION_TENSOR_META_INFO: (skip)
 *
 * The #GstMetaInfo of #GstCudaVisionTensorMeta.
 *
 * Since: 0.1
 */
#define GST_CUDA_VISION_TENSOR_META_INFO (gst_cuda_vision_tensor_meta_get_info())

/**
 * gst_cuda_vision_tensor_meta_api_get_type:
 *
 * Registers the API of the meta with GStreamer. `gst_buffer_iterate_meta_filtered()` finds metas by this type.
 *
 * Returns: the #GType of the API of #GstCudaVisionTensorMeta
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GType gst_cuda_vision_tensor_meta_api_get_type(void);

/**
 * gst_cuda_vision_tensor_meta_get_info: (skip)
 *
 * The first call registers the meta with GStreamer; metas cannot be deserialised before.
 *
 * Returns: (transfer none): how GStreamer handles the meta
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
const GstMetaInfo *gst_cuda_vision_tensor_meta_get_info(void);

/**
 * gst_cuda_vision_buffer_add_tensor_meta:
 * @buffer: (transfer none): a writable #GstBuffer
 * @id: names the contents; not empty. Several tensors may have the same id
 * @element_type: the type of the numbers
 * @n_dims: the number of dimensions, 1 to %GST_CUDA_VISION_TENSOR_MAX_DIMS
 * @dims: (array length=n_dims): the size of each dimension, outermost first, each at least 1
 * @data: (transfer full): the numbers, row-major without padding, in the byte order of the machine; bytes
 * after the last number are ignored
 *
 * Attaches a tensor to a frame. Its geometry is unknown (all zero) until it is set with
 * gst_cuda_vision_tensor_meta_set_geometry().
 *
 * Invalid arguments, or a tensor larger than @data, cause a critical message; @data is then released.
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer; %NULL if it was refused
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GstCudaVisionTensorMeta *gst_cuda_vision_buffer_add_tensor_meta(GstBuffer *buffer, const gchar *id,
                                                                GstCudaVisionElementType element_type,
                                                                guint n_dims, const gsize *dims,
                                                                GstBuffer *data);

/**
 * gst_cuda_vision_buffer_get_tensor_meta:
 * @buffer: (transfer none): a #GstBuffer
 * @id: (nullable): the id of the tensor; %NULL for any
 *
 * Finds a tensor of a frame by its id.
 *
 * Returns: (transfer none) (nullable): the first tensor with that id that was attached, owned by @buffer;
 * %NULL if there is none
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GstCudaVisionTensorMeta *gst_cuda_vision_buffer_get_tensor_meta(GstBuffer *buffer, const gchar *id);

/**
 * gst_cuda_vision_buffer_get_tensor_metas:
 * @buffer: (transfer none): a #GstBuffer
 *
 * Lists the tensors of a frame.
 *
 * Returns: (transfer container) (element-type GstCudaVisionTensorMeta): all tensors of @buffer, in the
 * order in which they were attached; owned by @buffer
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GPtrArray *gst_cuda_vision_buffer_get_tensor_metas(GstBuffer *buffer);

/**
 * gst_cuda_vision_tensor_meta_set_geometry:
 * @meta: (transfer none): a #GstCudaVisionTensorMeta on a writable buffer
 * @frame_width: the width in pixels of the frame that the tensor was computed from
 * @frame_height: its height in pixels
 * @origin_x: the x of element (0, 0) in that frame, in pixels
 * @origin_y: the y of element (0, 0) in that frame, in pixels
 * @step_x: the distance in x from one column of elements to the next, in pixels; 0 if there are none
 * @step_y: the distance in y from one row of elements to the next, in pixels; 0 if there are none
 *
 * Sets the positions of the tensor's elements in the frame. Values that are not finite are refused with a
 * critical message.
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
void gst_cuda_vision_tensor_meta_set_geometry(GstCudaVisionTensorMeta *meta, guint frame_width,
                                              guint frame_height, gdouble origin_x, gdouble origin_y,
                                              gdouble step_x, gdouble step_y);

/**
 * gst_cuda_vision_tensor_meta_get_id:
 * @meta: (transfer none): a #GstCudaVisionTensorMeta
 *
 * Gets the name of the contents.
 *
 * Returns: (transfer none) (nullable): the id of the tensor as valid UTF-8, which stays valid until the process ends;
 * %NULL if a buffer pool has cleared the meta
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
const gchar *gst_cuda_vision_tensor_meta_get_id(const GstCudaVisionTensorMeta *meta);

/**
 * gst_cuda_vision_tensor_meta_get_dims:
 * @meta: (transfer none): a #GstCudaVisionTensorMeta
 * @n_dims: (out): the number of dimensions
 *
 * Gets the shape of the tensor.
 *
 * Returns: (array length=n_dims) (transfer none): the size of each dimension, outermost first; none if somebody has
 * written an invalid shape into the meta, or a buffer pool has cleared the meta
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
const gsize *gst_cuda_vision_tensor_meta_get_dims(const GstCudaVisionTensorMeta *meta, guint *n_dims);

/**
 * gst_cuda_vision_tensor_meta_get_size:
 * @meta: (transfer none): a #GstCudaVisionTensorMeta
 *
 * Gets the size of the numbers, which is the product of the dimensions and the size of one number.
 *
 * Returns: the total size of the numbers in bytes; 0 if the shape is invalid
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
gsize gst_cuda_vision_tensor_meta_get_size(const GstCudaVisionTensorMeta *meta);

/**
 * gst_cuda_vision_tensor_meta_get_data:
 * @meta: (transfer none): a #GstCudaVisionTensorMeta
 *
 * Gets the buffer that holds the numbers, without a copy. It is read-only, because copies of the frame share it.
 *
 * Returns: (transfer none) (nullable): the numbers, row-major without padding, at least
 *   gst_cuda_vision_tensor_meta_get_size() bytes; %NULL if a buffer pool has cleared the meta
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GstBuffer *gst_cuda_vision_tensor_meta_get_data(const GstCudaVisionTensorMeta *meta);

/**
 * gst_cuda_vision_tensor_meta_get_bytes:
 * @meta: (transfer none): a #GstCudaVisionTensorMeta
 *
 * Maps the data, which may lie on a GPU, and copies the numbers.
 *
 * Returns: (transfer full) (nullable): a copy: gst_cuda_vision_tensor_meta_get_size() bytes, row-major without padding,
 * in the byte order of the machine; %NULL if the tensor cannot be read: it has no id, an invalid shape, too little
 * data, or data that cannot be mapped
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GBytes *gst_cuda_vision_tensor_meta_get_bytes(const GstCudaVisionTensorMeta *meta);

G_END_DECLS
