// SPDX-License-Identifier: LGPL-2.1-or-later
// The C interface of the tensor meta, and its GstMetaInfo.
#include <gst/cudavision/tensormeta.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "gst/meta/buffer_ref.h"
#include "gst/meta/mapping.h"
#include "gst/meta/reading.h"
#include "gst/meta/registration.h"
#include "gst/meta/tensor_names.h"
#include "gst/meta/wire.h"

namespace {

using cudavision::BufferRef;

GstCudaVisionTensorMeta *as_tensor(GstMeta *meta) {
  return reinterpret_cast<GstCudaVisionTensorMeta *>(meta);
}

// Sets all fields except the GstMeta, which belongs to GStreamer.
void set_fields(GstMeta *meta, GstCudaVisionTensorMeta fields) {
  fields.meta = *meta;
  *as_tensor(meta) = fields;
}

#if CUDAVISION_HAVE_META_SERIALISATION
// The serialised form: id, element type, whether it is drawn, the size of the frame, origin, step, dims and numbers.
constexpr char kWireType[] = "(sybuuddddatay)";
constexpr gsize kMostIdBytes = 256;

// Returns FALSE if the tensor cannot be read or exceeds 2 GiB.
gboolean write_tensor(const GstCudaVisionTensorMeta &tensor, GstByteArrayInterface *to, guint8 *version) {
  const cudavision::TensorReading reading = cudavision::reading_of(tensor);
  GstMapInfo map;
  if (reading.fault != nullptr || !gst_buffer_map(tensor.data, &map, GST_MAP_READ)) return FALSE;
  guint64 dims[GST_CUDA_VISION_TENSOR_MAX_DIMS];
  std::copy(reading.dims.begin(), reading.dims.end(), dims);
  // An application may have changed the buffer since it was attached.
  const gboolean written =
      map.size >= reading.size &&
      cudavision::write_value(
          g_variant_new("(sybuudddd@at@ay)", reading.id, static_cast<guchar>(tensor.element_type),
                        tensor.is_drawn, tensor.frame_width, tensor.frame_height, tensor.origin_x,
                        tensor.origin_y, tensor.step_x, tensor.step_y,
                        g_variant_new_fixed_array(G_VARIANT_TYPE_UINT64, dims, reading.dims.size(), 8),
                        g_variant_new_from_data(G_VARIANT_TYPE_BYTESTRING, map.data, reading.size, TRUE,
                                                nullptr, nullptr)),
          to, version);
  gst_buffer_unmap(tensor.data, &map);
  return written;
}

// Sets all fields except the GstMeta; the caller owns tensor->data. Returns false, without data, if a field is invalid,
// or if the id is a new name beyond the limits of tensor_names.h.
bool read_tensor(GVariant *value, GstCudaVisionTensorMeta *tensor) {
  const char *id = nullptr;
  guchar element_type = 0;
  g_autoptr(GVariant) dims_value = nullptr, numbers_value = nullptr;
  g_variant_get(value, "(&sybuudddd@at@ay)", &id, &element_type, &tensor->is_drawn, &tensor->frame_width,
                &tensor->frame_height, &tensor->origin_x, &tensor->origin_y, &tensor->step_x, &tensor->step_y,
                &dims_value, &numbers_value);
  for (const double number : {tensor->origin_x, tensor->origin_y, tensor->step_x, tensor->step_y})
    if (!std::isfinite(number)) return false;
  gsize n_dims = 0, size = 0;
  const auto *dims = static_cast<const guint64 *>(g_variant_get_fixed_array(dims_value, &n_dims, 8));
  const void *numbers = g_variant_get_fixed_array(numbers_value, &size, 1);
  if (*id == '\0' || std::strlen(id) > kMostIdBytes || n_dims > GST_CUDA_VISION_TENSOR_MAX_DIMS ||
      std::any_of(dims, dims + n_dims, [](guint64 dim) { return dim > G_MAXSIZE; }))
    return false;
  std::copy_n(dims, n_dims, tensor->dims);
  tensor->element_type = static_cast<GstCudaVisionElementType>(element_type);
  tensor->n_dims = static_cast<guint>(n_dims);
  gsize size_of_shape = 0;
  if (cudavision::fault_of_shape(tensor->element_type, tensor->n_dims, tensor->dims, &size_of_shape) !=
          nullptr ||
      size_of_shape != size)
    return false;
  tensor->id = cudavision::quark_of_foreign_name(id);
  if (tensor->id != 0) tensor->data = gst_buffer_new_memdup(numbers, size);
  return tensor->id != 0;
}
#endif

// The functions of the GstMetaInfo.
struct Functions {
  static gboolean init(GstMeta *meta, gpointer, GstBuffer *) {
    set_fields(meta, {});
    return TRUE;
  }
  static void free(GstMeta *meta, GstBuffer *) { gst_clear_buffer(&as_tensor(meta)->data); }
  static void clear(GstBuffer *buffer, GstMeta *meta) {
    free(meta, buffer);
    init(meta, nullptr, buffer);
  }

  // Treats a copy of some of the buffer's bytes as a copy of the frame, as GStreamer does for regions of interest.
  static gboolean transform(GstBuffer *dest, GstMeta *meta, GstBuffer *, GQuark type, gpointer data) {
    GstCudaVisionTensorMeta moved = *as_tensor(meta);
    if (!GST_META_TRANSFORM_IS_COPY(type)) {
      const std::optional<cudavision::FrameMapping> mapping = cudavision::mapping_of(type, data);
      if (!mapping || !mapping->move(&moved)) return FALSE;
    }
    GstMeta *copy = gst_buffer_add_meta(dest, meta->info, nullptr);
    if (copy == nullptr) return FALSE;
    set_fields(copy, moved);
    if (moved.data != nullptr) gst_buffer_ref(moved.data);
    return TRUE;
  }

#if CUDAVISION_HAVE_META_SERIALISATION
  static gboolean serialize(const GstMeta *meta, GstByteArrayInterface *data, guint8 *version) {
    return write_tensor(*reinterpret_cast<const GstCudaVisionTensorMeta *>(meta), data, version);
  }
  static GstMeta *deserialize(const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data, gsize size,
                              guint8 version) {
    GstCudaVisionTensorMeta tensor = {};
    g_autoptr(GVariant) value = cudavision::read_value(kWireType, data, size, version);
    if (value == nullptr || !read_tensor(value, &tensor)) return nullptr;
    BufferRef numbers(tensor.data);
    GstMeta *meta = gst_buffer_add_meta(buffer, info, nullptr);
    if (meta == nullptr) return nullptr;
    set_fields(meta, tensor);
    (void)numbers.release();
    return meta;
  }
#endif
};

}  // namespace

GType gst_cuda_vision_tensor_meta_api_get_type() {
  static const GType type = cudavision::register_meta_api("GstCudaVisionTensorMetaAPI");
  return type;
}

const GstMetaInfo *gst_cuda_vision_tensor_meta_get_info() {
  static const GstMetaInfo *const info = cudavision::register_meta<GstCudaVisionTensorMeta, Functions>(
      GST_CUDA_VISION_TENSOR_META_API_TYPE, "GstCudaVisionTensorMeta");
  return info;
}

GstCudaVisionTensorMeta *gst_cuda_vision_buffer_add_tensor_meta(GstBuffer *buffer, const gchar *id,
                                                                GstCudaVisionElementType element_type,
                                                                guint n_dims, const gsize *dims,
                                                                GstBuffer *data) {
  BufferRef numbers(data);
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  g_return_val_if_fail(gst_buffer_is_writable(buffer), nullptr);
  g_return_val_if_fail(id != nullptr && *id != '\0', nullptr);
  g_return_val_if_fail(GST_IS_BUFFER(data), nullptr);
  g_return_val_if_fail(data != buffer, nullptr);
  g_return_val_if_fail(dims != nullptr || n_dims == 0, nullptr);

  gsize size = 0;
  if (const char *fault = cudavision::fault_of_shape(element_type, n_dims, dims, &size); fault != nullptr) {
    g_critical("%s: tensor \"%s\": %s", __func__, id, fault);
    return nullptr;
  }
  if (gst_buffer_get_size(data) < size) {
    g_critical("%s: tensor \"%s\": its %" G_GSIZE_FORMAT " bytes do not fit in data of %" G_GSIZE_FORMAT,
               __func__, id, size, gst_buffer_get_size(data));
    return nullptr;
  }

  GstCudaVisionTensorMeta *meta =
      as_tensor(gst_buffer_add_meta(buffer, GST_CUDA_VISION_TENSOR_META_INFO, nullptr));
  if (meta == nullptr) return nullptr;
  meta->id = g_quark_from_string(id);
  meta->element_type = element_type;
  meta->n_dims = n_dims;
  std::copy_n(dims, n_dims, meta->dims);
  meta->data = numbers.release();
  return meta;
}

GstCudaVisionTensorMeta *gst_cuda_vision_buffer_get_tensor_meta(GstBuffer *buffer, const gchar *id) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  const GQuark wanted = g_quark_try_string(id);  // 0 for nullptr and for unknown strings
  if (id != nullptr && wanted == 0) return nullptr;
  gpointer state = nullptr;
  while (GstMeta *meta =
             gst_buffer_iterate_meta_filtered(buffer, &state, GST_CUDA_VISION_TENSOR_META_API_TYPE))
    if (id == nullptr || as_tensor(meta)->id == wanted) return as_tensor(meta);
  return nullptr;
}

GPtrArray *gst_cuda_vision_buffer_get_tensor_metas(GstBuffer *buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  GPtrArray *metas = g_ptr_array_new();
  gpointer state = nullptr;
  while (GstMeta *meta =
             gst_buffer_iterate_meta_filtered(buffer, &state, GST_CUDA_VISION_TENSOR_META_API_TYPE))
    g_ptr_array_add(metas, meta);
  return metas;
}

void gst_cuda_vision_tensor_meta_set_geometry(GstCudaVisionTensorMeta *meta, guint frame_width,
                                              guint frame_height, gdouble origin_x, gdouble origin_y,
                                              gdouble step_x, gdouble step_y) {
  g_return_if_fail(meta != nullptr);
  g_return_if_fail(std::isfinite(origin_x) && std::isfinite(origin_y));
  g_return_if_fail(std::isfinite(step_x) && std::isfinite(step_y));
  meta->frame_width = frame_width;
  meta->frame_height = frame_height;
  meta->origin_x = origin_x;
  meta->origin_y = origin_y;
  meta->step_x = step_x;
  meta->step_y = step_y;
}

const gchar *gst_cuda_vision_tensor_meta_get_id(const GstCudaVisionTensorMeta *meta) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  return cudavision::text_of(meta->id);
}

const gsize *gst_cuda_vision_tensor_meta_get_dims(const GstCudaVisionTensorMeta *meta, guint *n_dims) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  g_return_val_if_fail(n_dims != nullptr, nullptr);
  *n_dims = static_cast<guint>(cudavision::reading_of(*meta).dims.size());
  return meta->dims;
}

gsize gst_cuda_vision_tensor_meta_get_size(const GstCudaVisionTensorMeta *meta) {
  g_return_val_if_fail(meta != nullptr, 0);
  return cudavision::reading_of(*meta).size;
}

GstBuffer *gst_cuda_vision_tensor_meta_get_data(const GstCudaVisionTensorMeta *meta) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  return GST_IS_BUFFER(meta->data) ? meta->data : nullptr;
}

GBytes *gst_cuda_vision_tensor_meta_get_bytes(const GstCudaVisionTensorMeta *meta) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  const cudavision::TensorReading reading = cudavision::reading_of(*meta);
  GstMapInfo map;
  if (reading.fault != nullptr || !gst_buffer_map(meta->data, &map, GST_MAP_READ)) return nullptr;
  GBytes *bytes = map.size >= reading.size ? g_bytes_new(map.data, reading.size) : nullptr;
  gst_buffer_unmap(meta->data, &map);
  return bytes;
}
