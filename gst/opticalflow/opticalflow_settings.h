// SPDX-License-Identifier: LGPL-2.1-or-later
// The settings of cudaopticalflow: the values of its properties.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>

#include "cuda/common/number_text.h"
#include "cuda/opticalflow/opticalflow.h"
#include "gst/base/style/color_text.h"
#include "gst/base/style/line_width.h"
#include "gst/opticalflow/flow_style.h"

namespace cudavision {

struct OpticalFlowSettings : OpticalFlowParams, FlowStyle {
  OpticalFlowPreset preset = OpticalFlowPreset::none;
  ColorText color = ColorText::kByDirection;  // of arrows
  int line_width = kAutomaticWidth;
  std::optional<std::string> roi_type;

  friend bool operator==(const OpticalFlowSettings &, const OpticalFlowSettings &) = default;
};

inline Status validate(const OpticalFlowSettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.color, ColorText::kByDirection));
  return validate(static_cast<const OpticalFlowParams &>(settings));
}

// Returns a warning if no vector can be valid with these settings, or an empty text (element_state.h).
inline std::string futile(const OpticalFlowSettings &settings) {
  // The smaller eigenvalue is at most half of the gradient matrix's trace. A Scharr derivative is at most 16 * 255.
  constexpr double kMost = 16.0 * 255 * 16 * 255 / (1 << 20);
  if (settings.min_eigenvalue <= kMost) return {};
  return "min-eigenvalue is " + text_of(settings.min_eigenvalue) + ", but no eigenvalue exceeds " +
         text_of(kMost) + ": no vector can be valid. Lower min-eigenvalue";
}

}  // namespace cudavision
