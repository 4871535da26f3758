// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudacanny.
#pragma once

#include <gst/gst.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "cuda/canny/canny.h"
#include "cuda/common/number_text.h"
#include "gst/base/style/color_text.h"

namespace cudavision {

enum class CannyOutput { edges, overlay };

struct CannySettings : CannyParams {
  std::optional<std::string> roi_type;
  CannyOutput output = CannyOutput::edges;
  ColorText color = "red";

  friend bool operator==(const CannySettings &, const CannySettings &) = default;
};

inline Status validate(const CannySettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.color));
  return validate(static_cast<const CannyParams &>(settings));
}

// Returns a warning if no frame can have edges with these parameters, or an empty text (element_state.h).
inline std::string futile(const CannyParams &params) {
  const double high = std::max(params.low_threshold, params.high_threshold),
               most = max_gradient(params.aperture);
  if (high < most) return {};
  return "high-threshold is " + text_of(high) + ", but no gradient exceeds " + text_of(most) +
         ": there are no edges in any frame. Lower high-threshold";
}

}  // namespace cudavision
