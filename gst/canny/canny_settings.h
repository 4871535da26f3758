// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudacanny.
#pragma once

#include <gst/gst.h>

#include <string>

#include "cuda/canny/canny.h"
#include "gst/base/color_text.h"

namespace cudavision {

enum class CannyOutput { edges, overlay };

struct CannySettings : CannyParams {
  CannyOutput output = CannyOutput::edges;
  ColorText color = "red";

  friend bool operator==(const CannySettings &, const CannySettings &) = default;
};

inline Status validate(const CannySettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.color));
  return validate(static_cast<const CannyParams &>(settings));
}

}  // namespace cudavision
