// SPDX-License-Identifier: LGPL-2.1-or-later
// Exports tensors, frames, and lists of keypoints and lines as structs of DLPack.
#include <dlfcn.h>
#include <gst/cudavision/dlpack.h>

#include "gst/meta/array_export.h"
#include "gst/meta/reading.h"

namespace {

using cudavision::ArrayExport;
using cudavision::ArrayLayout;
using cudavision::BufferRef;

constexpr GFlagsValue kFlags[] = {
    {GST_CUDA_VISION_DLPACK_FLAGS_NONE, "GST_CUDA_VISION_DLPACK_FLAGS_NONE", "none"},
    {GST_CUDA_VISION_DLPACK_FLAGS_COPY, "GST_CUDA_VISION_DLPACK_FLAGS_COPY", "copy"},
    {GST_CUDA_VISION_DLPACK_FLAGS_HOST, "GST_CUDA_VISION_DLPACK_FLAGS_HOST", "host"},
    {GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED, "GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED", "unversioned"},
    {0, nullptr, nullptr}};
constexpr gint64 kNoStream = -1;

gsize address_of(std::unique_ptr<ArrayExport> exported, guint flags) {
  if (!exported) return 0;
  return (flags & GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED) != 0
             ? reinterpret_cast<gsize>(exported.release()->unversioned())
             : reinterpret_cast<gsize>(exported.release()->versioned());
}

template <typename Struct>
void call_deleter(void *tensor) {
  static_cast<Struct *>(tensor)->deleter(static_cast<Struct *>(tensor));
}

// The destructor of a PyCapsule. It is not written in Python, because it may be called while an exception is pending.
// The library does not link with Python: it looks up Python's functions in the calling process.
void destroy_capsule(void *capsule) {
  static const auto is_valid =
      reinterpret_cast<int (*)(void *, const char *)>(dlsym(RTLD_DEFAULT, "PyCapsule_IsValid"));
  static const auto pointer_of =
      reinterpret_cast<void *(*)(void *, const char *)>(dlsym(RTLD_DEFAULT, "PyCapsule_GetPointer"));
  if (is_valid == nullptr || pointer_of == nullptr) return;
  // A consumer that takes the struct renames the capsule.
  if (is_valid(capsule, "dltensor_versioned") != 0)
    call_deleter<DLManagedTensorVersioned>(pointer_of(capsule, "dltensor_versioned"));
  else if (is_valid(capsule, "dltensor") != 0)
    call_deleter<DLManagedTensor>(pointer_of(capsule, "dltensor"));
}

bool layout_tensor(const GstCudaVisionTensorMeta &meta, ArrayLayout *layout, GError **error) {
  static constexpr DLDataType kTypes[] = {
      {kDLUInt, 8, 1}, {kDLUInt, 16, 1}, {kDLUInt, 32, 1}, {kDLInt, 32, 1}, {kDLFloat, 32, 1}};
  const cudavision::TensorReading reading = cudavision::reading_of(meta);
  gchar id[64] = {};
  g_strlcpy(id, reading.id != nullptr ? reading.id : "", sizeof id);
  cudavision::drop_half_character(id);
  g_snprintf(layout->name, sizeof layout->name, "the tensor \"%s\"", id);
  if (reading.fault != nullptr) {
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "%s cannot be read: %s", layout->name,
                reading.fault);
    return false;
  }
  layout->type = kTypes[meta.element_type];
  layout->n_dims = static_cast<int>(reading.dims.size());
  for (std::size_t i = 0; i < reading.dims.size(); ++i)
    layout->shape[i] = static_cast<std::int64_t>(reading.dims[i]);
  layout->pack();
  return true;
}

// Exports a list as an array [items][numbers_of_item] of one type. Takes ownership of `items`.
gsize export_list(const char *name, DLDataType type, int numbers_of_item, GBytes *items, guint flags,
                  GError **error) {
  ArrayLayout layout;
  g_strlcpy(layout.name, name, sizeof layout.name);
  layout.type = type;
  layout.n_dims = 2;
  const gsize bytes_of_item = gsize(numbers_of_item) * type.bits / 8;
  layout.shape[0] = static_cast<std::int64_t>(g_bytes_get_size(items) / bytes_of_item);
  layout.shape[1] = numbers_of_item;
  layout.pack();
  const BufferRef buffer(layout.size != 0 ? gst_buffer_new_wrapped_bytes(items) : nullptr);
  g_bytes_unref(items);
  return address_of(ArrayExport::make(layout, buffer.get(), flags, kNoStream, error), flags);
}

}  // namespace

GType gst_cuda_vision_dlpack_flags_get_type() {
  static const GType type = g_flags_register_static("GstCudaVisionDlpackFlags", kFlags);
  return type;
}

// --- tensors ---

DLManagedTensorVersioned *gst_cuda_vision_tensor_meta_to_dlpack(const GstCudaVisionTensorMeta *meta,
                                                                GstCudaVisionDlpackFlags flags, gint64 stream,
                                                                GError **error) {
  g_return_val_if_fail((flags & GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED) == 0, nullptr);
  return reinterpret_cast<DLManagedTensorVersioned *>(
      gst_cuda_vision_tensor_meta_export_dlpack(meta, flags, stream, error));
}

gsize gst_cuda_vision_tensor_meta_export_dlpack(const GstCudaVisionTensorMeta *meta,
                                                GstCudaVisionDlpackFlags flags, gint64 stream,
                                                GError **error) {
  g_return_val_if_fail(meta != nullptr, 0);
  ArrayLayout layout;
  if (!layout_tensor(*meta, &layout, error)) return 0;
  return address_of(ArrayExport::make(layout, meta->data, flags, stream, error), flags);
}

gint gst_cuda_vision_tensor_meta_get_dlpack_device(const GstCudaVisionTensorMeta *meta, gint *device_id) {
  g_return_val_if_fail(meta != nullptr, 0);
  g_return_val_if_fail(device_id != nullptr, 0);
  const DLDevice device = cudavision::dlpack_device_of(gst_cuda_vision_tensor_meta_get_data(meta));
  *device_id = device.device_id;
  return device.device_type;
}

// --- lists ---

gsize gst_cuda_vision_keypoints_meta_export_dlpack(const GstCudaVisionKeypointsMeta *meta,
                                                   GstCudaVisionDlpackFlags flags, GError **error) {
  g_return_val_if_fail(meta != nullptr, 0);
  static_assert(sizeof(GstCudaVisionKeypoint) == 4 * sizeof(float));
  return export_list("the list of keypoints", {kDLFloat, 32, 1}, 4,
                     gst_cuda_vision_keypoints_meta_get_bytes(meta), flags, error);
}

gsize gst_cuda_vision_lines_meta_export_dlpack(const GstCudaVisionLinesMeta *meta,
                                               GstCudaVisionDlpackFlags flags, GError **error) {
  g_return_val_if_fail(meta != nullptr, 0);
  static_assert(sizeof(GstCudaVisionLine) == 7 * sizeof(guint32));
  return export_list("the list of lines", {kDLUInt, 32, 1}, 7, gst_cuda_vision_lines_meta_get_bytes(meta),
                     flags, error);
}

// --- frames ---

static bool describe(const GstCaps *caps, GstVideoInfo *info) {
  return gst_caps_is_fixed(caps) && gst_video_info_from_caps(info, caps);
}

guint gst_cuda_vision_frame_get_n_planes(const GstCaps *caps) {
  g_return_val_if_fail(GST_IS_CAPS(caps), 0);
  GstVideoInfo info;
  return describe(caps, &info) ? GST_VIDEO_INFO_N_PLANES(&info) : 0;
}

DLManagedTensorVersioned *gst_cuda_vision_frame_to_dlpack(GstBuffer *buffer, const GstCaps *caps, guint plane,
                                                          GstCudaVisionDlpackFlags flags, gint64 stream,
                                                          GError **error) {
  g_return_val_if_fail((flags & GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED) == 0, nullptr);
  return reinterpret_cast<DLManagedTensorVersioned *>(
      gst_cuda_vision_frame_export_dlpack(buffer, caps, plane, flags, stream, error));
}

gsize gst_cuda_vision_frame_export_dlpack(GstBuffer *buffer, const GstCaps *caps, guint plane,
                                          GstCudaVisionDlpackFlags flags, gint64 stream, GError **error) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), 0);
  g_return_val_if_fail(GST_IS_CAPS(caps), 0);
  GstVideoInfo info;
  if (!describe(caps, &info)) {
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "the caps are not those of video frames");
    return 0;
  }
  ArrayLayout layout;
  if (!cudavision::layout_plane(buffer, info, plane, &layout, error)) return 0;
  return address_of(ArrayExport::make(layout, buffer, flags, stream, error), flags);
}

gint gst_cuda_vision_frame_get_dlpack_device(GstBuffer *buffer, gint *device_id) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), 0);
  g_return_val_if_fail(device_id != nullptr, 0);
  const DLDevice device = cudavision::dlpack_device_of(buffer);
  *device_id = device.device_id;
  return device.device_type;
}

// --- release ---

void gst_cuda_vision_dlpack_release(gsize address, GstCudaVisionDlpackFlags flags) {
  if (address == 0) return;
  if ((flags & GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED) != 0)
    call_deleter<DLManagedTensor>(reinterpret_cast<void *>(address));
  else
    call_deleter<DLManagedTensorVersioned>(reinterpret_cast<void *>(address));
}

gsize gst_cuda_vision_dlpack_get_capsule_destructor() { return reinterpret_cast<gsize>(&destroy_capsule); }
