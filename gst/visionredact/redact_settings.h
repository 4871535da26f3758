// SPDX-License-Identifier: LGPL-2.1-or-later
// The settings of cudavisionredact, which its properties set.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>

#include "cuda/redact/redact.h"
#include "gst/base/style/color_text.h"
#include "gst/visionredact/hidden_polygons.h"

namespace cudavision {

enum class OnSilence { hide_all, pass };

// RedactParams::color is not used: VisionRedactOperation computes it from fill_color for the format of the frame.
struct RedactSettings : RedactParams {
  std::optional<std::string> type, always;
  ColorText fill_color = "black";
  double hold = 1, timeout = 2;  // seconds
  guint64 look_back_time = 0;    // nanoseconds
  int look_back = 0;             // frames; only if look_back_time is 0
  OnSilence on_silence = OnSilence::hide_all;
  bool masks = true, drop_pictures = true;

  bool is_every_type() const { return !type || type->empty() || *type == "*"; }

  friend bool operator==(const RedactSettings &, const RedactSettings &) = default;
};

inline Status validate(const RedactSettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.fill_color));
  CUDAVISION_TRY(validate_polygons(settings.always));
  return validate(static_cast<const RedactParams &>(settings));
}

}  // namespace cudavision
