// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudahough.
#pragma once

#include <gst/gst.h>

#include "cuda/canny/canny.h"
#include "cuda/hough/hough.h"

namespace cudavision {

enum class HoughInput { picture, edges };

struct HoughSettings : CannyParams, HoughParams {
  HoughInput input = HoughInput::picture;
  guint32 color = 0xffff0000;
  int line_width = 2;

  friend bool operator==(const HoughSettings &, const HoughSettings &) = default;
};

inline Status validate(const HoughSettings &settings) {
  if (settings.input == HoughInput::edges && settings.gradient_voting)
    return invalid_argument(
        "gradient-voting needs the gradients of a picture and cannot be combined with input=edges");
  CUDAVISION_TRY(validate(static_cast<const CannyParams &>(settings)));
  return validate(static_cast<const HoughParams &>(settings));
}

}  // namespace cudavision
