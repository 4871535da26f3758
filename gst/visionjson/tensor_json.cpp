// SPDX-License-Identifier: LGPL-2.1-or-later
// A tensor as a JSON object. Its numbers are converted one by one, without a copy of the data.
#include "gst/visionjson/tensor_json.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

#include "gst/base/results/tensor_data.h"
#include "gst/meta/reading.h"
#include "gst/visionjson/json_text.h"

namespace cudavision {
namespace {

// The numbers of a tensor in host memory, valid as long as *access; null if they cannot be read.
const void *numbers_of(const GstCudaVisionTensorMeta &meta, TensorData *access) {
  const void *numbers = nullptr;
  if (!access->read({}, nullptr, meta, &numbers).ok()) throw std::bad_alloc();
  return numbers;
}

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
Summary<T> summarize(const T *values, std::size_t count, const StopFlag &stop) {
  Summary<T> s{values[0], values[0], 0, 0};
  bool number = true;
  for_each_part(count, stop, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      s.min = values[i] < s.min ? values[i] : s.min;
      s.max = values[i] > s.max ? values[i] : s.max;
      s.sum += values[i];
      if constexpr (std::is_floating_point_v<T>) number = number && !std::isnan(values[i]);
    }
  });
  s.mean = static_cast<double>(s.sum) / static_cast<double>(count);
  if constexpr (std::is_floating_point_v<T>) {
    if (!number) s.min = s.max = std::numeric_limits<T>::quiet_NaN();  // comparisons ignore NaN
  }
  return s;
}

template <typename T>
void append_summary(std::string *text, const T *values, std::size_t count, const StopFlag &stop) {
  const Summary<T> summary = summarize(values, count, stop);
  append_numbers(text, "min", summary.min, "max", summary.max, "sum", summary.sum, "mean", summary.mean);
}

bool is_vector_field(const GstCudaVisionTensorMeta *meta) {
  if (meta->element_type != GST_CUDA_VISION_ELEMENT_TYPE_F32 || meta->n_dims < 3) return false;
  const gsize components = meta->dims[meta->n_dims - 1];
  return components >= 2 && components <= kMostComponents;
}

std::size_t vectors_in(const GstCudaVisionTensorMeta *meta) {
  return gst_cuda_vision_tensor_meta_get_size(meta) / (sizeof(float) * meta->dims[meta->n_dims - 1]);
}

// Finds, among the tensors after the first one, the tensor that says which vectors of the first one are valid; null if
// there is none. Searches only the next few, because a frame may have any number of tensors.
const GstCudaVisionTensorMeta *validity_of(std::span<const GstCudaVisionTensorMeta *const> tensors) {
  constexpr std::size_t kMostSearched = 64;
  const GstCudaVisionTensorMeta *field = tensors.front();
  const GQuark id = g_quark_try_string((std::string(g_quark_to_string(field->id)) + "-valid").c_str());
  for (std::size_t i = 1; id != 0 && i < std::min(tensors.size(), kMostSearched); ++i) {
    const GstCudaVisionTensorMeta *meta = tensors[i];
    if (meta->id == id)
      return meta->element_type == GST_CUDA_VISION_ELEMENT_TYPE_U8 &&
                     gst_cuda_vision_tensor_meta_get_size(meta) == vectors_in(field)
                 ? meta
                 : nullptr;
  }
  return nullptr;
}

VectorField field_of(const GstCudaVisionTensorMeta *meta, const void *numbers, const void *valid) {
  return {static_cast<const float *>(numbers), vectors_in(meta),
          static_cast<int>(meta->dims[meta->n_dims - 1]), static_cast<const std::uint8_t *>(valid)};
}

void append_component(std::string *text, const ComponentSummary &summary) {
  text->push_back('{');
  append_numbers(text, "min", summary.min, "max", summary.max, "mean", summary.mean, "median", summary.median,
                 "p99", summary.p99);
  text->push_back('}');
}

void append_vectors(std::string *text, const VectorField &field, VectorSummarizer *summarizer,
                    const StopFlag &stop) {
  const VectorSummary summary = summarizer->summarize(field, stop);
  text->append(",\"components\":[");
  for (int i = 0; i < field.components; ++i) append_item(text, summary.components[i], append_component);
  append_number(&text->append("],\"moving\":"), summary.moving);
}

template <typename T>
void append_data(std::string *text, const T *values, std::size_t count, const StopFlag &stop) {
  text->append(",\"data\":[");
  text->reserve(text->size() + count * kMostText<T> + 2);  // avoids repeated copies of a long line
  append_items(text, values, count, append_number<T>, stop);
  text->push_back(']');
}

template <typename T>
void append_values(std::string *text, const void *numbers, gsize bytes, TensorPart part,
                   const StopFlag &stop) {
  const auto *values = static_cast<const T *>(numbers);
  const std::size_t count = bytes / sizeof(T);
  if (part == TensorPart::full)
    append_data(text, values, count, stop);
  else
    append_summary(text, values, count, stop);
}

void append_values_of(std::string *text, GstCudaVisionElementType type, const void *numbers, gsize bytes,
                      TensorPart part, const StopFlag &stop) {
  switch (type) {
    case GST_CUDA_VISION_ELEMENT_TYPE_U8:
      return append_values<std::uint8_t>(text, numbers, bytes, part, stop);
    case GST_CUDA_VISION_ELEMENT_TYPE_U16:
      return append_values<std::uint16_t>(text, numbers, bytes, part, stop);
    case GST_CUDA_VISION_ELEMENT_TYPE_U32:
      return append_values<std::uint32_t>(text, numbers, bytes, part, stop);
    case GST_CUDA_VISION_ELEMENT_TYPE_I32:
      return append_values<std::int32_t>(text, numbers, bytes, part, stop);
    case GST_CUDA_VISION_ELEMENT_TYPE_F32:
      return append_values<float>(text, numbers, bytes, part, stop);
  }
}

// Begins the object of a tensor.
void append_id(std::string *text, const char *id) {
  append_string(&append_name(&text->append("{"), "id"), id);
}

void append_head(std::string *text, const GstCudaVisionTensorMeta *meta, const TensorReading &reading) {
  append_id(text, reading.id);
  append_name(text, "dims").push_back('[');
  for (const gsize dim : reading.dims) append_item(text, dim, append_number<gsize>);
  append_string(&append_name(&text->append("]"), "type"),
                gst_cuda_vision_element_type_to_string(meta->element_type));
}

// Appends an object with the id and the fault. Returns the fault.
const char *append_unreadable_tensor(std::string *text, const char *id, const char *fault) {
  append_id(text, id);
  append_string(&append_name(text, "unreadable"), fault);
  text->push_back('}');
  return fault;
}

}  // namespace

const char *append_tensor(std::string *text, std::span<const GstCudaVisionTensorMeta *const> tensors,
                          TensorStyle *style, const StopFlag &stop) {
  const GstCudaVisionTensorMeta *meta = tensors.front();
  const TensorReading reading = reading_of(*meta);
  if (reading.fault != nullptr) return append_unreadable_tensor(text, reading.id, reading.fault);
  const bool vectors = style->part == TensorPart::summary && is_vector_field(meta);
  const GstCudaVisionTensorMeta *validity = vectors ? validity_of(tensors) : nullptr;
  const bool none = style->part == TensorPart::none;
  TensorData access, access_to_valid;
  const void *numbers = none ? nullptr : numbers_of(*meta, &access),
             *valid = validity != nullptr ? numbers_of(*validity, &access_to_valid) : nullptr;
  if (!none && numbers == nullptr)
    return append_unreadable_tensor(text, reading.id, "data that is too short or cannot be mapped");
  if (validity != nullptr && valid == nullptr)
    return append_unreadable_tensor(text, reading.id, "the tensor of its valid vectors cannot be read");
  append_head(text, meta, reading);
  if (vectors)
    append_vectors(text, field_of(meta, numbers, valid), &style->summarizer, stop);
  else if (!none)
    append_values_of(text, meta->element_type, numbers, reading.size, style->part, stop);
  text->push_back('}');
  return nullptr;
}

}  // namespace cudavision
