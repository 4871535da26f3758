// SPDX-License-Identifier: LGPL-2.1-or-later
// The settings of cudaopticalflow: the values of its properties.
#pragma once

#include <gst/gst.h>

#include <string>

#include "cuda/opticalflow/opticalflow.h"
#include "gst/base/color_text.h"
#include "gst/base/line_width.h"

namespace cudavision {

enum class OpticalFlowDisplayMode { wheel, arrows };

struct OpticalFlowSettings : OpticalFlowParams {
  OpticalFlowPreset preset = OpticalFlowPreset::none;
  OpticalFlowDisplayMode display_mode = OpticalFlowDisplayMode::wheel;
  double max_speed = 8, arrow_scale = 4;
  ColorText color = ColorText::kByDirection;  // of arrows
  int line_width = kAutomaticWidth;
  bool legend = true;

  friend bool operator==(const OpticalFlowSettings &, const OpticalFlowSettings &) = default;
};

inline Status validate(const OpticalFlowSettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.color, ColorText::kByDirection));
  return validate(static_cast<const OpticalFlowParams &>(settings));
}

}  // namespace cudavision
