// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudahough.
#pragma once

#include <gst/gst.h>

#include <string>

#include "cuda/canny/canny.h"
#include "cuda/hough/hough.h"
#include "gst/base/color_text.h"

namespace cudavision {

enum class HoughInput { picture, edges };

struct HoughSettings : CannyParams, HoughParams {
  HoughInput input = HoughInput::picture;
  ColorText color = "red";
  int line_width = 2;

  friend bool operator==(const HoughSettings &, const HoughSettings &) = default;
};

inline Status validate(const HoughSettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.color));
  if (settings.input == HoughInput::edges && settings.gradient_voting)
    return invalid_argument(
        "gradient-voting needs the gradients of a picture and cannot be combined with input=edges");
  CUDAVISION_TRY(validate(static_cast<const CannyParams &>(settings)));
  return validate(static_cast<const HoughParams &>(settings));
}

inline std::string hint(const HoughSettings &settings) { return color_hint("color", settings.color); }

}  // namespace cudavision
