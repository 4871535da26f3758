// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensors for NumPy, PyTorch, CuPy and every other library that takes DLPack.
#pragma once

#include <gst/cudavision/keypointsmeta.h>
#include <gst/cudavision/linesmeta.h>
#include <gst/cudavision/tensormeta.h>

G_BEGIN_DECLS

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/**
 * GstCudaVisionDlpackFlags:
 * @GST_CUDA_VISION_DLPACK_FLAGS_NONE: the numbers in place, without a copy; read-only, because frames share them
 * @GST_CUDA_VISION_DLPACK_FLAGS_COPY: a writable copy, on the same device
 * @GST_CUDA_VISION_DLPACK_FLAGS_HOST: on the host; numbers on a GPU are downloaded
 * @GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED: for consumers of DLPack before 1.0, which has neither versions nor
 * read-only memory: a consumer that writes to shared numbers changes what other users of the frame see
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
 * @stream: the CUDA stream on which the consumer uses a tensor on a GPU, as in the Python array API: 1 for the legacy
 * default stream, 2 for that of the thread, -1 if the consumer orders its work itself, or a handle; ignored on the host
 * @error: the reason of a failure
 *
 * Hands the numbers of a tensor over as a `DLManagedTensorVersioned` of DLPack 1.0, or, with
 * %GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED, as a `DLManagedTensor`. The struct outlives the frame, and any thread may
 * release it.
 *
 * On a GPU, the consumer's stream waits until the numbers are computed; the host does not. After the release, the
 * memory is written again only when the work then on the consumer's stream is done: the stream must still exist then,
 * and not be captured into a graph. The consumer must use the device's primary context, as the CUDA runtime does.
 *
 * Returns: the address of the struct, for its deleter or gst_cuda_vision_dlpack_release(); 0 after an error
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
 * Calls the deleter of the struct, for programs that cannot call it themselves.
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
void gst_cuda_vision_dlpack_release(gsize address, GstCudaVisionDlpackFlags flags);

/**
 * gst_cuda_vision_dlpack_get_capsule_destructor:
 *
 * For Python bindings: the destructor for a PyCapsule that holds the struct and has the name that DLPack prescribes. It
 * calls the deleter of the struct, unless a consumer has taken the struct.
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
 * Tells which device holds the numbers.
 *
 * Returns: the type of the device that holds the numbers, as in DLPack: 1 for the host, 2 for CUDA
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gint gst_cuda_vision_tensor_meta_get_dlpack_device(const GstCudaVisionTensorMeta *meta, gint *device_id);

/**
 * gst_cuda_vision_keypoints_meta_export_dlpack:
 * @meta: a #GstCudaVisionKeypointsMeta
 * @flags: how the list is handed over
 * @error: the reason of a failure
 *
 * Hands the keypoints over as an array of 32-bit floats, `[n][4]`: x, y, response, angle.
 *
 * Returns: as gst_cuda_vision_tensor_meta_export_dlpack()
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gsize gst_cuda_vision_keypoints_meta_export_dlpack(const GstCudaVisionKeypointsMeta *meta,
                                                   GstCudaVisionDlpackFlags flags, GError **error);

/**
 * gst_cuda_vision_lines_meta_export_dlpack:
 * @meta: a #GstCudaVisionLinesMeta
 * @flags: how the list is handed over
 * @error: the reason of a failure
 *
 * Hands the lines over as an array of 32-bit words, `[n][7]`: rho, theta, votes, x1, y1, x2, y2. The votes are unsigned
 * integers, all other words are floats.
 *
 * Returns: as gst_cuda_vision_tensor_meta_export_dlpack()
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gsize gst_cuda_vision_lines_meta_export_dlpack(const GstCudaVisionLinesMeta *meta,
                                               GstCudaVisionDlpackFlags flags, GError **error);

/**
 * gst_cuda_vision_frame_get_n_planes:
 * @caps: the caps of video frames
 *
 * Each plane of a frame is an array of its own.
 *
 * Returns: the number of planes of a frame; 0 if the caps are not those of raw video
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
guint gst_cuda_vision_frame_get_n_planes(const GstCaps *caps);

/**
 * gst_cuda_vision_frame_to_dlpack: (skip)
 * @buffer: a video frame
 * @caps: the caps of the frame
 * @plane: the number of a plane
 * @flags: without %GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED
 * @stream: as for gst_cuda_vision_tensor_meta_export_dlpack()
 * @error: (nullable): the reason of a failure
 *
 * Does the work of gst_cuda_vision_frame_export_dlpack() for programs that include the header of DLPack.
 *
 * Returns: (nullable): the plane, to be released by its deleter; %NULL after an error
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
struct DLManagedTensorVersioned *gst_cuda_vision_frame_to_dlpack(GstBuffer *buffer, const GstCaps *caps,
                                                                 guint plane, GstCudaVisionDlpackFlags flags,
                                                                 gint64 stream, GError **error);

/**
 * gst_cuda_vision_frame_export_dlpack:
 * @buffer: a video frame, in system memory or in CUDA memory
 * @caps: the caps of the frame
 * @plane: the number of a plane
 * @flags: how the plane is handed over
 * @stream: as for gst_cuda_vision_tensor_meta_export_dlpack()
 * @error: the reason of a failure
 *
 * Hands a plane of a frame over, without a copy: `[rows][columns]`, or `[rows][columns][channels]` where the plane
 * holds more than one number for each pixel. There may be gaps between rows. The numbers are unsigned, of 8 bits, of 16
 * bits (P010 and other formats of more than 8 bits), or of 16 or 32 bits that hold all components of a pixel (RGB16,
 * RGB10A2). YUY2 and UYVY have two channels: the luma, and in turn one of the two chroma components.
 *
 * After the array is released, the memory of a frame in CUDA memory may be written again. Before GStreamer 1.24, or
 * while somebody else holds the frame, the release waits on the host for the work on the consumer's stream.
 *
 * Returns: as gst_cuda_vision_tensor_meta_export_dlpack()
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gsize gst_cuda_vision_frame_export_dlpack(GstBuffer *buffer, const GstCaps *caps, guint plane,
                                          GstCudaVisionDlpackFlags flags, gint64 stream, GError **error);

/**
 * gst_cuda_vision_frame_get_dlpack_device:
 * @buffer: a video frame
 * @device_id: (out): the number of the CUDA device; 0 on the host
 *
 * Tells which device holds a frame. A frame in CUDA memory of a library other than GStreamer's counts as on the host.
 *
 * Returns: the type of the device that holds the frame, as in DLPack: 1 for the host, 2 for CUDA
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gint gst_cuda_vision_frame_get_dlpack_device(GstBuffer *buffer, gint *device_id);

G_END_DECLS
