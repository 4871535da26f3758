// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudahog.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>

#include "cuda/hog/hog_detector.h"
#include "gst/base/style/color_text.h"
#include "gst/base/style/line_width.h"

namespace cudavision {

// A model that is part of the plugin.
enum class HogModelName { none, people };

// The part of a window that a box shows.
enum class HogBoxes { object, window };

struct HogSettings {
  // The parameters of the blocks, unless the model (people, or a file in OpenCV's format) brings its own. cell_size and
  // block_stride are in pixels, block_size in cells.
  HogVariant variant = HogVariant::opencv;
  int cell_size = 8, block_size = 2, block_stride = 8, bins = 9;
  bool signed_gradient = false, gamma = true;
  HogNorm norm = HogNorm::variant;

  std::optional<bool> descriptor;  // if it was never set: true without a model, false with one
  HogModelName model = HogModelName::none;
  std::optional<std::string> model_location;
  int win_width = 64, win_height = 128;  // the window of a plain text model in pixels
  std::optional<std::string> label = "person";
  double scale_step = 1.05, min_scale = 0, max_scale = 0;  // min_scale 0: that of the model
  int win_stride = 8;
  double hit_threshold = 0;
  int group_threshold = 2;
  HogGrouping group_method = HogGrouping::best;
  HogBoxes boxes = HogBoxes::object;
  std::optional<std::string> roi_type;
  ColorText color = "lime";
  bool labels = true;
  int line_width = kAutomaticWidth;

  friend bool operator==(const HogSettings &, const HogSettings &) = default;
  HogParams params() const {
    HogParams p;
    p.variant = variant;
    p.cell = {cell_size, cell_size};
    p.block = {cell_size * block_size, cell_size * block_size};
    p.stride = {block_stride, block_stride};
    p.bins = bins;
    p.signed_gradient = signed_gradient;
    p.gamma = gamma;
    p.norm = norm;
    return p;
  }
  HogSearch search(double min_scale_of_model) const {
    return {scale_step, min_scale > 0 ? min_scale : min_scale_of_model, max_scale, win_stride};
  }
  HogThresholds thresholds(const HogPart &object) const {
    return {hit_threshold, group_threshold, group_method, object, boxes == HogBoxes::window};
  }
  bool has_file() const { return model_location && !model_location->empty(); }
  bool has_model() const { return has_file() || model != HogModelName::none; }
};

inline Status validate(const HogSettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.color));
  CUDAVISION_TRY(validate(settings.params()));
  if (settings.has_file() && settings.model != HogModelName::none)
    return invalid_argument("model and model-location are both set: a frame is searched with one model");
  // With min-scale 0, the search begins at max-scale if that is less than the scale of the model.
  return validate(settings.search(HogDetectorRanges::min_scale.least));
}

}  // namespace cudavision
