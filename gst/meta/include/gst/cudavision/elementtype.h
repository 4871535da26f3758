// SPDX-License-Identifier: LGPL-2.1-or-later
// The types of a tensor's numbers.
#pragma once

#include <gst/cudavision/prelude.h>

G_BEGIN_DECLS

/**
 * GstCudaVisionElementType:
 * @GST_CUDA_VISION_ELEMENT_TYPE_U8: unsigned, 8 bits
 * @GST_CUDA_VISION_ELEMENT_TYPE_U16: unsigned, 16 bits
 * @GST_CUDA_VISION_ELEMENT_TYPE_U32: unsigned, 32 bits
 * @GST_CUDA_VISION_ELEMENT_TYPE_I32: signed, two's complement, 32 bits
 * @GST_CUDA_VISION_ELEMENT_TYPE_F32: IEEE 754, 32 bits
 *
 * The type of a tensor's numbers, in the byte order of the machine.
 *
 * Since: 0.1
 */
typedef enum {
  GST_CUDA_VISION_ELEMENT_TYPE_U8 = 0,
  GST_CUDA_VISION_ELEMENT_TYPE_U16 = 1,
  GST_CUDA_VISION_ELEMENT_TYPE_U32 = 2,
  GST_CUDA_VISION_ELEMENT_TYPE_I32 = 3,
  GST_CUDA_VISION_ELEMENT_TYPE_F32 = 4
} GstCudaVisionElementType;

/**
 * GST_CUDA_VISION_TYPE_ELEMENT_TYPE: (skip)
 *
 * The #GType of #GstCudaVisionElementType.
 *
 * Since: 0.1
 */
#define GST_CUDA_VISION_TYPE_ELEMENT_TYPE (gst_cuda_vision_element_type_get_type())

/**
 * gst_cuda_vision_element_type_get_type:
 *
 * Registers the enumeration with GObject.
 *
 * Returns: the #GType of #GstCudaVisionElementType
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
GType gst_cuda_vision_element_type_get_type(void);

/**
 * gst_cuda_vision_element_type_size:
 * @type: a #GstCudaVisionElementType
 *
 * Gets the size of one number of a type.
 *
 * Returns: the size of one number in bytes; 0 if @type is invalid
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
gsize gst_cuda_vision_element_type_size(GstCudaVisionElementType type);

/**
 * gst_cuda_vision_element_type_to_string:
 * @type: a #GstCudaVisionElementType
 *
 * Gets the short name of a type, as it is written in caps and in JSON.
 *
 * Returns: (transfer none) (nullable): "u8", "u16", "u32", "i32" or "f32"; %NULL if @type is invalid
 *
 * Since: 0.1
 */
GST_CUDA_VISION_API
const gchar *gst_cuda_vision_element_type_to_string(GstCudaVisionElementType type);

G_END_DECLS
