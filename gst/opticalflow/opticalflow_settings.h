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
  ColorText color = kByDirection;  // of arrows: a colour, or kByDirection
  int line_width = kAutomaticWidth;
  bool legend = true;

  static constexpr const char *kByDirection = "direction";
  bool colors_by_direction() const { return color.is_word(kByDirection); }

  friend bool operator==(const OpticalFlowSettings &, const OpticalFlowSettings &) = default;
};

inline Status validate(const OpticalFlowSettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.color, settings.kByDirection));
  return validate(static_cast<const OpticalFlowParams &>(settings));
}

inline std::string hint(const OpticalFlowSettings &settings) { return color_hint("color", settings.color); }

}  // namespace cudavision
