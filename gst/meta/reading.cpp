// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads fields of metas which other elements and programs write.
#include "gst/meta/reading.h"

#include <utility>

#include "gst/meta/tensor_shape.h"

namespace cudavision {

const char *text_of(GQuark quark) {
  const char *text = g_quark_to_string(quark);
  if (text == nullptr || g_utf8_validate(text, -1, nullptr)) return text;
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  return g_intern_string(valid);  // at most one for each quark, which is never freed either
}

namespace {

const char *valid_text(const char *text) {
  return text != nullptr && g_utf8_validate(text, -1, nullptr) ? text : nullptr;
}

}  // namespace

void drop_half_character(char *text) {
  const char *end = text;
  g_utf8_validate(text, -1, &end);
  text[end - text] = '\0';
}

TensorReading reading_of(const GstCudaVisionTensorMeta &tensor) {
  const TensorShape shape(tensor.element_type, tensor.n_dims, tensor.dims);
  TensorReading reading{shape.error(), text_of(tensor.id), {}, shape.size()};
  if (shape.error() == nullptr) reading.dims = {tensor.dims, tensor.n_dims};
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
                        0,
                        nullptr,
                        false};
  bool has_detection = false, has_track = false;  // the first of each counts
  for_each_param(region, [&](std::string_view name, const GstStructure *param) {
    if (name == "detection" && !std::exchange(has_detection, true)) {
      gst_structure_get_double(param, "confidence", &reading.score);
      reading.label = valid_text(gst_structure_get_string(param, "label"));
    }
    if (name == "tracking" && !std::exchange(has_track, true)) {
      gst_structure_get_uint64(param, "id", &reading.track);
      gboolean predicted = FALSE;
      reading.predicted = gst_structure_get_boolean(param, "predicted", &predicted) && predicted;
    }
  });
  return reading;
}

}  // namespace cudavision
