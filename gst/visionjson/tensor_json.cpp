// SPDX-License-Identifier: LGPL-2.1-or-later
// A tensor as a JSON object. Its numbers are converted one by one, without a copy of the data.
#include "gst/visionjson/tensor_json.h"

#include <cstdint>
#include <limits>

#include "gst/visionjson/json_text.h"

namespace cudavision {
namespace {

// The maximum length of a number's text, including its comma.
template <typename T>
constexpr std::size_t kMostText = std::is_floating_point_v<T> ? 17  // -1.17549435e-38,
                                                              : std::numeric_limits<T>::digits10 + 3;

template <typename T>
struct Summary {
  T min, max;
  double mean;
  std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t> sum;
};

template <typename T>
Summary<T> summarize(const T *values, std::size_t count) {
  Summary<T> s{values[0], values[0], 0, 0};
  bool number = true;
  for (std::size_t i = 0; i < count; ++i) {
    s.min = values[i] < s.min ? values[i] : s.min;
    s.max = values[i] > s.max ? values[i] : s.max;
    s.sum += values[i];
    if constexpr (std::is_floating_point_v<T>) number = number && !std::isnan(values[i]);
  }
  s.mean = static_cast<double>(s.sum) / static_cast<double>(count);
  if constexpr (std::is_floating_point_v<T>) {
    if (!number) s.min = s.max = std::numeric_limits<T>::quiet_NaN();  // comparisons ignore NaN
  }
  return s;
}

template <typename T>
void append_summary(std::string *text, const T *values, std::size_t count) {
  const Summary<T> summary = summarize(values, count);
  append_number(&text->append(",\"min\":"), summary.min);
  append_number(&text->append(",\"max\":"), summary.max);
  append_number(&text->append(",\"sum\":"), summary.sum);
  append_number(&text->append(",\"mean\":"), summary.mean);
}

template <typename T>
void append_data(std::string *text, const T *values, std::size_t count) {
  text->append(",\"data\":[");
  text->reserve(text->size() + count * kMostText<T> + 2);  // avoids repeated copies of a long line
  for (std::size_t i = 0; i < count; ++i) append_item(text, values[i], append_number<T>);
  text->push_back(']');
}

template <typename T>
void append_values(std::string *text, const GstMapInfo &map, gsize size, TensorData data) {
  const auto *values = reinterpret_cast<const T *>(map.data);
  const std::size_t count = size / sizeof(T);
  if (data == TensorData::full)
    append_data(text, values, count);
  else
    append_summary(text, values, count);
}

void append_values_of(std::string *text, const GstCudaVisionTensorMeta *meta, const GstMapInfo &map,
                      TensorData data) {
  const gsize size = gst_cuda_vision_tensor_meta_get_size(meta);
  switch (meta->element_type) {
    case GST_CUDA_VISION_ELEMENT_TYPE_U8:
      return append_values<std::uint8_t>(text, map, size, data);
    case GST_CUDA_VISION_ELEMENT_TYPE_U16:
      return append_values<std::uint16_t>(text, map, size, data);
    case GST_CUDA_VISION_ELEMENT_TYPE_U32:
      return append_values<std::uint32_t>(text, map, size, data);
    case GST_CUDA_VISION_ELEMENT_TYPE_I32:
      return append_values<std::int32_t>(text, map, size, data);
    case GST_CUDA_VISION_ELEMENT_TYPE_F32:
      return append_values<float>(text, map, size, data);
  }
}

void append_head(std::string *text, const GstCudaVisionTensorMeta *meta) {
  guint n_dims = 0;
  const gsize *dims = gst_cuda_vision_tensor_meta_get_dims(meta, &n_dims);
  JsonHead()
      .string("id", gst_cuda_vision_tensor_meta_get_id(meta))
      .whole_list("dims", dims, n_dims)
      .string("type", gst_cuda_vision_element_type_to_string(meta->element_type))
      .append_open(text);
}

}  // namespace

bool append_tensor(std::string *text, const GstCudaVisionTensorMeta *meta, TensorData data) {
  if (data == TensorData::none) {
    append_head(text, meta);
    text->push_back('}');
    return true;
  }
  GstBuffer *buffer = gst_cuda_vision_tensor_meta_get_data(meta);
  GstMapInfo map;
  if (buffer == nullptr || !gst_buffer_map(buffer, &map, GST_MAP_READ)) return false;
  const gsize size = gst_cuda_vision_tensor_meta_get_size(meta);
  const bool whole = size > 0 && map.size >= size;
  if (whole) {
    append_head(text, meta);
    append_values_of(text, meta, map, data);
    text->push_back('}');
  }
  gst_buffer_unmap(buffer, &map);
  return whole;
}

}  // namespace cudavision
