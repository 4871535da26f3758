// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudasigma2kp.
#pragma once

#include <gst/gst.h>

#include <string>

#include "cuda/sigma2kp/sigma2kp.h"
#include "gst/base/color_text.h"
#include "gst/base/line_width.h"

namespace cudavision {

struct Sigma2KpSettings : Sigma2KpParams {
  ColorText color = "red";
  int point_size = kAutomaticWidth, line_width = kAutomaticWidth;
  double min_contrast = 12;  // of drawn keypoints

  friend bool operator==(const Sigma2KpSettings &, const Sigma2KpSettings &) = default;
};

inline Status validate(const Sigma2KpSettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.color));
  return validate(static_cast<const Sigma2KpParams &>(settings));
}

}  // namespace cudavision
