// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudahough.
#pragma once

#include <gst/gst.h>

#include <algorithm>
#include <numbers>
#include <string>

#include "cuda/canny/canny.h"
#include "cuda/hough/hough.h"
#include "gst/base/color_text.h"
#include "gst/base/line_width.h"

namespace cudavision {

enum class HoughInput { picture, edges };

// HoughParams::threshold and nms_radius have other defaults here; kAutomaticThreshold stands for one that
// params() computes.
struct HoughSettings : CannyParams, HoughParams {
  static constexpr int kAutomaticThreshold = -1;

  HoughSettings() { threshold = kAutomaticThreshold, nms_radius = 6; }

  HoughInput input = HoughInput::picture;
  ColorText color = ColorText::kByDirection;
  int line_width = kAutomaticWidth;
  int max_drawn = 50;  // 0: all

  bool excludes_directions() const { return min_theta > 0 || max_theta < std::numbers::pi; }
  // The parameters for pictures of that size. Small frames have more edges for their size, hence the
  // constant.
  HoughParams params(Size size) const {
    HoughParams params = *this;
    if (threshold == kAutomaticThreshold) params.threshold = 30 + std::min(size.width, size.height) / 5;
    return params;
  }

  friend bool operator==(const HoughSettings &, const HoughSettings &) = default;
};

inline Status validate(const HoughSettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.color, ColorText::kByDirection));
  if (settings.input == HoughInput::edges && settings.gradient_voting)
    return invalid_argument(
        "gradient-voting needs the gradients of a picture and cannot be combined with input=edges");
  CUDAVISION_TRY(validate(static_cast<const CannyParams &>(settings)));
  return validate(settings.params({}));
}

}  // namespace cudavision
