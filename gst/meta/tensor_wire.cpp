// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes and reads tensors as id, type (and whether it is drawn), dims, geometry and numbers, all little endian.
#include "gst/meta/tensor_wire.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "gst/meta/reading.h"
#include "gst/meta/tensor_names.h"
#include "gst/meta/tensor_shape.h"
#include "gst/meta/wire.h"

namespace cudavision {

#if CUDAVISION_HAVE_META_SERIALISATION
namespace {

constexpr double GstCudaVisionTensorMeta::*kGeometry[] = {
    &GstCudaVisionTensorMeta::origin_x, &GstCudaVisionTensorMeta::origin_y, &GstCudaVisionTensorMeta::step_x,
    &GstCudaVisionTensorMeta::step_y};

constexpr std::uint8_t kDrawn = 0x80;  // the flag is_drawn in the byte of the element type

std::uint64_t header_size(gsize id_size, guint n_dims) {
  return 4 + std::uint64_t{id_size} + 2 + 8 * std::uint64_t{n_dims} + 2 * 4 + 4 * 8;
}

void write_header(Writer &writer, const GstCudaVisionTensorMeta *tensor, const char *id, gsize id_size) {
  writer.put(static_cast<std::uint32_t>(id_size));
  writer.put_elements(reinterpret_cast<const std::uint8_t *>(id), id_size, 1);
  writer.put(static_cast<std::uint8_t>(tensor->element_type | (tensor->is_drawn ? kDrawn : 0)));
  writer.put(static_cast<std::uint8_t>(tensor->n_dims));
  for (guint i = 0; i < tensor->n_dims; ++i) writer.put<std::uint64_t>(tensor->dims[i]);
  writer.put<std::uint32_t>(tensor->frame_width);
  writer.put<std::uint32_t>(tensor->frame_height);
  for (const auto field : kGeometry) writer.put(tensor->*field);
}

constexpr std::uint32_t kMostIdBytes = 256;

// The id as a new string; nullptr if the bytes are not valid text, or too many.
char *read_id(Reader &reader) {
  const auto size = reader.get<std::uint32_t>();
  if (size > kMostIdBytes) return nullptr;
  const auto *text = reinterpret_cast<const char *>(reader.take(size));
  if (text == nullptr || size == 0 || !g_utf8_validate_len(text, size, nullptr)) return nullptr;
  return g_strndup(text, size);
}

bool read_shape(Reader &reader, GstCudaVisionTensorMeta *tensor) {
  const auto flagged_type = reader.get<std::uint8_t>();
  const int element_type = flagged_type & ~kDrawn;
  tensor->is_drawn = (flagged_type & kDrawn) != 0;
  tensor->n_dims = reader.get<std::uint8_t>();
  if (element_type > GST_CUDA_VISION_ELEMENT_TYPE_F32 || tensor->n_dims > GST_CUDA_VISION_TENSOR_MAX_DIMS)
    return false;
  tensor->element_type = static_cast<GstCudaVisionElementType>(element_type);
  for (guint i = 0; i < tensor->n_dims; ++i) {
    const auto dim = reader.get<std::uint64_t>();
    if (dim > std::numeric_limits<gsize>::max()) return false;
    tensor->dims[i] = static_cast<gsize>(dim);
  }
  return reader.ok();
}

bool read_geometry(Reader &reader, GstCudaVisionTensorMeta *tensor) {
  tensor->frame_width = reader.get<std::uint32_t>();
  tensor->frame_height = reader.get<std::uint32_t>();
  bool finite = true;
  for (const auto field : kGeometry) {
    tensor->*field = reader.get<double>();
    finite = finite && std::isfinite(tensor->*field);
  }
  return finite && reader.ok();
}

}  // namespace

gboolean write_tensor(const GstCudaVisionTensorMeta *tensor, GstByteArrayInterface *to) {
  const TensorReading reading = reading_of(*tensor);
  if (reading.fault != nullptr) return FALSE;
  const gsize id_size = std::strlen(reading.id);
  const std::uint64_t header = header_size(id_size, tensor->n_dims);
  constexpr std::uint64_t kMost =
      std::numeric_limits<gint32>::max();  // GStreamer's header stores the size in 32 bits
  if (header > kMost || reading.size > kMost - header) return FALSE;

  GstMapInfo map;
  if (!gst_buffer_map(tensor->data, &map, GST_MAP_READ)) return FALSE;
  // An application may have changed the buffer since it was attached.
  guint8 *bytes = map.size < reading.size
                      ? nullptr
                      : gst_byte_array_interface_append(to, static_cast<gsize>(header) + reading.size);
  if (bytes != nullptr) {
    Writer writer(bytes);
    write_header(writer, tensor, reading.id, id_size);
    writer.put_elements(map.data, reading.size, gst_cuda_vision_element_type_size(tensor->element_type));
  }
  gst_buffer_unmap(tensor->data, &map);
  return bytes != nullptr;
}

gboolean read_tensor(const guint8 *bytes, gsize size, GstCudaVisionTensorMeta *tensor) {
  Reader reader(bytes, size);
  g_autofree char *id = read_id(reader);
  if (id == nullptr || !read_shape(reader, tensor) || !read_geometry(reader, tensor)) return FALSE;
  const TensorShape shape(tensor->element_type, tensor->n_dims, tensor->dims);
  if (shape.error() != nullptr || shape.size() != reader.left()) return FALSE;

  auto *numbers = static_cast<guint8 *>(g_try_malloc(shape.size()));
  if (numbers == nullptr && shape.size() != 0) return FALSE;
  const GQuark quark = quark_of_foreign_name(id);
  if (quark == 0) {
    g_free(numbers);
    return FALSE;
  }
  copy_little_endian(numbers, reader.take(shape.size()), shape.size(),
                     gst_cuda_vision_element_type_size(tensor->element_type));
  tensor->data = gst_buffer_new_wrapped(numbers, shape.size());
  tensor->id = quark;
  return TRUE;
}
#endif

}  // namespace cudavision
