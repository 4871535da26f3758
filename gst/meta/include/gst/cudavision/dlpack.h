// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensors for NumPy, PyTorch, CuPy and every other library that takes DLPack.
#pragma once

#include <gst/cudavision/tensormeta.h>

G_BEGIN_DECLS

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/**
 * GstCudaVisionDlpackFlags:
 * @GST_CUDA_VISION_DLPACK_FLAGS_NONE: the numbers where they lie, which frames share: they are read-only
 * @GST_CUDA_VISION_DLPACK_FLAGS_COPY: a writable copy, on the same device
 * @GST_CUDA_VISION_DLPACK_FLAGS_HOST: on the host; numbers on a GPU are downloaded
 * @GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED: for consumers of DLPack before 1.0, which knows neither versions nor read-only
 * memory: who writes into it changes what other users of the frame see
 *
 * How a tensor is handed over.
 *
 * Since: 0.3
 */
typedef enum {
  GST_CUDA_VISION_DLPACK_FLAGS_NONE = 0,
  GST_CUDA_VISION_DLPACK_FLAGS_COPY = 1 << 0,
  GST_CUDA_VISION_DLPACK_FLAGS_HOST = 1 << 1,
  GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED = 1 << 2
} GstCudaVisionDlpackFlags;

/**
 * GST_CUDA_VISION_TYPE_DLPACK_FLAGS: (skip)
 *
 * The #GType of #GstCudaVisionDlpackFlags.
 *
 * Since: 0.3
 */
#define GST_CUDA_VISION_TYPE_DLPACK_FLAGS (gst_cuda_vision_dlpack_flags_get_type())

/**
 * gst_cuda_vision_dlpack_flags_get_type:
 *
 * Registers the flags with GObject.
 *
 * Returns: the #GType of #GstCudaVisionDlpackFlags
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
GType gst_cuda_vision_dlpack_flags_get_type(void);

/**
 * gst_cuda_vision_tensor_meta_to_dlpack: (skip)
 * @meta: (transfer none): a #GstCudaVisionTensorMeta
 * @flags: without %GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED
 * @stream: as for gst_cuda_vision_tensor_meta_export_dlpack()
 * @error: the reason of a failure; may be %NULL
 *
 * Hands the numbers of a tensor over as gst_cuda_vision_tensor_meta_export_dlpack() does, as a pointer for C.
 *
 * Returns: (transfer full) (nullable): the tensor, to be released by its deleter; %NULL after an error
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
struct DLManagedTensorVersioned *gst_cuda_vision_tensor_meta_to_dlpack(const GstCudaVisionTensorMeta *meta,
                                                                       GstCudaVisionDlpackFlags flags,
                                                                       gint64 stream, GError **error);

/**
 * gst_cuda_vision_tensor_meta_export_dlpack:
 * @meta: (transfer none): a #GstCudaVisionTensorMeta
 * @flags: how the tensor is handed over
 * @stream: the CUDA stream on which the consumer will use a tensor on a GPU, as the Python array API counts: 1 for the legacy
 * default stream, 2 for that of the thread, a handle, or -1 if the consumer orders its work itself; anything for one on the host
 * @error: the reason of a failure
 *
 * Hands the numbers of a tensor over as a `DLManagedTensorVersioned` of DLPack 1.0, or, with
 * %GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED, as a `DLManagedTensor`. It outlives the frame and may be released on any thread.
 *
 * On a GPU, the consumer's stream waits until the numbers are computed; the host does not wait. When the tensor is released, its
 * memory is written again only behind the work that is on the consumer's stream then, so the stream must still exist, and must not
 * be captured into a graph. The consumer must use the primary context of the device, as every program of the CUDA runtime does.
 *
 * Returns: the address of the struct, to be released by its deleter or by gst_cuda_vision_dlpack_release(); 0 after an error
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gsize gst_cuda_vision_tensor_meta_export_dlpack(const GstCudaVisionTensorMeta *meta,
                                                GstCudaVisionDlpackFlags flags, gint64 stream,
                                                GError **error);

/**
 * gst_cuda_vision_dlpack_release:
 * @address: what gst_cuda_vision_tensor_meta_export_dlpack() returned; 0 does nothing
 * @flags: the flags of that call
 *
 * Calls the deleter, for programs that cannot.
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
void gst_cuda_vision_dlpack_release(gsize address, GstCudaVisionDlpackFlags flags);

/**
 * gst_cuda_vision_dlpack_get_capsule_destructor:
 *
 * For bindings to Python: a PyCapsule that carries the struct, under the name that DLPack gives it, gets this destructor. It
 * calls the deleter unless somebody has taken the struct.
 *
 * Returns: the address of a function of the type PyCapsule_Destructor
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gsize gst_cuda_vision_dlpack_get_capsule_destructor(void);

/**
 * gst_cuda_vision_tensor_meta_get_dlpack_device:
 * @meta: (transfer none): a #GstCudaVisionTensorMeta
 * @device_id: (out): the number of the CUDA device; 0 on the host
 *
 * Tells where the numbers lie.
 *
 * Returns: the type of the device on which the numbers lie, as DLPack counts: 1 for the host, 2 for CUDA
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gint gst_cuda_vision_tensor_meta_get_dlpack_device(const GstCudaVisionTensorMeta *meta, gint *device_id);

G_END_DECLS
