// SPDX-License-Identifier: LGPL-2.1-or-later
// A tensor as a JSON object. Its numbers are converted one by one, without a copy of the data.
#include "gst/visionjson/tensor_json.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "gst/meta/reading.h"
#include "gst/visionjson/json_text.h"

namespace cudavision {
namespace {

// The numbers of a tensor, mapped for reading while this object exists (RAII). data() is null if they cannot be mapped.
class MappedNumbers {
 public:
  explicit MappedNumbers(const GstCudaVisionTensorMeta *meta) {
    if (meta == nullptr || reading_of(*meta).fault != nullptr ||
        !gst_buffer_map(meta->data, &map_, GST_MAP_READ))
      return;
    buffer_ = meta->data;
    size_ = reading_of(*meta).size;
    data_ = map_.size >= size_ ? aligned(gst_cuda_vision_element_type_size(meta->element_type)) : nullptr;
  }
  ~MappedNumbers() {
    if (buffer_ != nullptr) gst_buffer_unmap(buffer_, &map_);
  }
  MappedNumbers(const MappedNumbers &) = delete;
  MappedNumbers &operator=(const MappedNumbers &) = delete;

  const guint8 *data() const { return data_; }
  gsize size() const { return size_; }  // in bytes

 private:
  // The mapped numbers, or an aligned copy: numbers of other programs may begin at any address.
  const guint8 *aligned(gsize alignment) {
    if (reinterpret_cast<std::uintptr_t>(map_.data) % alignment == 0) return map_.data;
    copy_.assign(map_.data, map_.data + size_);
    return copy_.data();
  }

  const guint8 *data_ = nullptr;
  std::vector<guint8> copy_;
  GstBuffer *buffer_ = nullptr;
  GstMapInfo map_{};
  gsize size_ = 0;
};

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

const GstCudaVisionTensorMeta *as_tensor(gconstpointer meta) {
  return static_cast<const GstCudaVisionTensorMeta *>(meta);
}

// Finds, among the tensors after the first one, the tensor that says which vectors of the first one are valid; null if
// there is none. Searches only the next few, because a frame may have any number of tensors.
const GstCudaVisionTensorMeta *validity_of(std::span<const gpointer> tensors) {
  constexpr std::size_t kMostSearched = 64;
  const GstCudaVisionTensorMeta *field = as_tensor(tensors.front());
  const GQuark id = g_quark_try_string((std::string(g_quark_to_string(field->id)) + "-valid").c_str());
  for (std::size_t i = 1; id != 0 && i < std::min(tensors.size(), kMostSearched); ++i) {
    const GstCudaVisionTensorMeta *meta = as_tensor(tensors[i]);
    if (meta->id == id)
      return meta->element_type == GST_CUDA_VISION_ELEMENT_TYPE_U8 &&
                     gst_cuda_vision_tensor_meta_get_size(meta) == vectors_in(field)
                 ? meta
                 : nullptr;
  }
  return nullptr;
}

VectorField field_of(const GstCudaVisionTensorMeta *meta, const MappedNumbers &numbers,
                     const MappedNumbers &valid) {
  return {reinterpret_cast<const float *>(numbers.data()), vectors_in(meta),
          static_cast<int>(meta->dims[meta->n_dims - 1]), valid.data()};
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
void append_values(std::string *text, const MappedNumbers &numbers, TensorData data, const StopFlag &stop) {
  const auto *values = reinterpret_cast<const T *>(numbers.data());
  const std::size_t count = numbers.size() / sizeof(T);
  if (data == TensorData::full)
    append_data(text, values, count, stop);
  else
    append_summary(text, values, count, stop);
}

void append_values_of(std::string *text, const GstCudaVisionTensorMeta *meta, const MappedNumbers &numbers,
                      TensorData data, const StopFlag &stop) {
  switch (meta->element_type) {
    case GST_CUDA_VISION_ELEMENT_TYPE_U8:
      return append_values<std::uint8_t>(text, numbers, data, stop);
    case GST_CUDA_VISION_ELEMENT_TYPE_U16:
      return append_values<std::uint16_t>(text, numbers, data, stop);
    case GST_CUDA_VISION_ELEMENT_TYPE_U32:
      return append_values<std::uint32_t>(text, numbers, data, stop);
    case GST_CUDA_VISION_ELEMENT_TYPE_I32:
      return append_values<std::int32_t>(text, numbers, data, stop);
    case GST_CUDA_VISION_ELEMENT_TYPE_F32:
      return append_values<float>(text, numbers, data, stop);
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

const char *append_tensor(std::string *text, std::span<const gpointer> tensors, TensorStyle *style,
                          const StopFlag &stop) {
  const GstCudaVisionTensorMeta *meta = as_tensor(tensors.front());
  const TensorReading reading = reading_of(*meta);
  if (reading.fault != nullptr) return append_unreadable_tensor(text, reading.id, reading.fault);
  const bool vectors = style->data == TensorData::summary && is_vector_field(meta);
  const GstCudaVisionTensorMeta *validity = vectors ? validity_of(tensors) : nullptr;
  const bool none = style->data == TensorData::none;
  const MappedNumbers numbers(none ? nullptr : meta), valid(validity);
  if (!none && numbers.data() == nullptr)
    return append_unreadable_tensor(text, reading.id, "data that is too short or cannot be mapped");
  if (validity != nullptr && valid.data() == nullptr)
    return append_unreadable_tensor(text, reading.id, "the tensor of its valid vectors cannot be read");
  append_head(text, meta, reading);
  if (vectors)
    append_vectors(text, field_of(meta, numbers, valid), &style->summarizer, stop);
  else if (!none)
    append_values_of(text, meta, numbers, style->data, stop);
  text->push_back('}');
  return nullptr;
}

}  // namespace cudavision
