// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/reading.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cudavision {

const char *text_of(GQuark quark) {
  const char *text = g_quark_to_string(quark);
  if (text == nullptr || g_utf8_validate(text, -1, nullptr)) return text;
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  return g_intern_string(valid);  // at most one string for each quark; quarks are never freed
}

namespace {

const char *valid_text(const char *text) {
  return text != nullptr && g_utf8_validate(text, -1, nullptr) ? text : nullptr;
}

// The field "id" of the structure, if it is a whole number that is not negative.
std::optional<guint64> id_in(const GstStructure *structure) {
  const GValue *value = gst_structure_get_value(structure, "id");
  if (value == nullptr) return {};
  const auto id_of = [](gint64 number) {
    return number < 0 ? std::nullopt : track_id(static_cast<guint64>(number));
  };
  switch (G_VALUE_TYPE(value)) {
    case G_TYPE_UINT64:
      return track_id(g_value_get_uint64(value));
    case G_TYPE_INT64:
      return id_of(g_value_get_int64(value));
    case G_TYPE_UINT:
      return id_of(g_value_get_uint(value));
    case G_TYPE_INT:
      return id_of(g_value_get_int(value));
    default:
      return {};
  }
}

std::optional<TrackEstimate> estimate_in(const GstStructure *structure) {
  constexpr double kMost = 1e9;
  bool is_right = true;
  const auto number = [&](const char *field) {
    const double value = number_in(structure, field).value_or(std::numeric_limits<double>::infinity());
    is_right = is_right && std::abs(value) <= kMost;
    return value;
  };
  const TrackEstimate estimate{number("x"),      number("y"),          number("width"),
                               number("height"), number("velocity-x"), number("velocity-y")};
  return is_right && estimate.width > 0 && estimate.height > 0 ? std::optional(estimate) : std::nullopt;
}

}  // namespace

std::optional<double> number_in(const GstStructure *structure, const char *field) {
  const GValue *value = gst_structure_get_value(structure, field);
  if (value == nullptr) return {};
  switch (G_VALUE_TYPE(value)) {
    case G_TYPE_DOUBLE:
      return g_value_get_double(value);
    case G_TYPE_FLOAT:
      return static_cast<double>(g_value_get_float(value));
    case G_TYPE_INT:
      return g_value_get_int(value);
    case G_TYPE_UINT:
      return g_value_get_uint(value);
    case G_TYPE_INT64:
      return static_cast<double>(g_value_get_int64(value));
    case G_TYPE_UINT64:
      return static_cast<double>(g_value_get_uint64(value));
    default:
      return {};
  }
}

void drop_half_character(char *text) {
  const char *end = text;
  g_utf8_validate(text, -1, &end);
  text[end - text] = '\0';
}

const char *fault_of_shape(GstCudaVisionElementType type, guint n_dims, const gsize *dims, gsize *size) {
  static_assert(GST_CUDA_VISION_TENSOR_MAX_DIMS == 8, "the text of the fault says 8");
  *size = 0;
  gsize bytes = gst_cuda_vision_element_type_size(type);
  if (bytes == 0) return "unknown element type";
  if (n_dims == 0) return "no dimensions";
  if (n_dims > GST_CUDA_VISION_TENSOR_MAX_DIMS) return "more than 8 dimensions";
  for (const gsize dim : std::span(dims, n_dims)) {
    if (dim == 0) return "a dimension of size 0";
    if (!g_size_checked_mul(&bytes, bytes, dim) || bytes > G_MAXSSIZE) return "larger than the address space";
  }
  *size = bytes;
  return nullptr;
}

TensorReading reading_of(const GstCudaVisionTensorMeta &tensor) {
  TensorReading reading{nullptr, text_of(tensor.id), {}, 0};
  reading.fault = fault_of_shape(tensor.element_type, tensor.n_dims, tensor.dims, &reading.size);
  if (reading.fault == nullptr) reading.dims = {tensor.dims, tensor.n_dims};
  if (reading.id == nullptr)
    reading.fault = "no id";
  else if (reading.fault == nullptr && !GST_IS_BUFFER(tensor.data))
    reading.fault = "no data";
  return reading;
}

RegionReading reading_of(const GstVideoRegionOfInterestMeta &region) {
  RegionReading reading{text_of(region.roi_type),
                        static_cast<gint>(region.x),
                        static_cast<gint>(region.y),
                        region.w,
                        region.h,
                        std::numeric_limits<double>::quiet_NaN(),
                        {},
                        nullptr,
                        false,
                        {}};
  bool has_detection = false;  // only the first one counts, and the first `tracking` with an id
  for_each_param(region, [&](std::string_view name, const GstStructure *param) {
    if (name == "detection" && !std::exchange(has_detection, true)) {
      reading.score = number_in(param, "confidence").value_or(reading.score);
      reading.label = valid_text(gst_structure_get_string(param, "label"));
    }
    if (name == "tracking" && !reading.track_id) {
      reading.track_id = id_in(param);
      gboolean predicted = FALSE;
      reading.predicted = gst_structure_get_boolean(param, "predicted", &predicted) && predicted;
      reading.estimate = estimate_in(param);
    }
  });
  return reading;
}

}  // namespace cudavision
