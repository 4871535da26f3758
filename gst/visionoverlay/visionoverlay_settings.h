// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudavisionoverlay. The defaults are those of the elements that draw the same things.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>

#include "gst/base/style/color_text.h"
#include "gst/base/style/line_width.h"
#include "gst/opticalflow/flow_style.h"

namespace cudavision {

struct VisionOverlaySettings : FlowStyle {
  // Shows flow as arrows by default: unlike the colour wheel, they leave the picture below the other results as it is.
  VisionOverlaySettings() { display_mode = OpticalFlowDisplayMode::arrows; }

  bool regions = true, keypoints = true, lines = true, tensors = true, zones = true;  // what is drawn
  bool labels = true, color_by_track = true;                                          // how regions are drawn
  ColorText color = "lime", keypoint_color = "red", line_color = ColorText::kByDirection, edge_color = "red",
            zone_color = "yellow";
  std::optional<std::string> show, hide;  // types of boxes, separated by commas; not set: all, or none
  int line_width = kAutomaticWidth, point_size = kAutomaticWidth, text_size = kAutomaticWidth;
  double label_opacity = 1;
  double trail = 0;          // seconds
  double min_contrast = 12;  // of keypoints
  int max_drawn = 50;        // 0: all

  friend bool operator==(const VisionOverlaySettings &, const VisionOverlaySettings &) = default;
};

inline Status validate(const VisionOverlaySettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.color));
  CUDAVISION_TRY(validate_color("keypoint-color", settings.keypoint_color));
  CUDAVISION_TRY(validate_color("edge-color", settings.edge_color));
  CUDAVISION_TRY(validate_color("zone-color", settings.zone_color));
  return validate_color("line-color", settings.line_color, ColorText::kByDirection);
}

// Returns a warning if nothing can be drawn with these settings, or an empty text (element_state.h).
inline std::string futile(const VisionOverlaySettings &settings) {
  if (settings.regions || settings.keypoints || settings.lines || settings.tensors || settings.zones)
    return {};
  return "regions, keypoints, lines, tensors and zones are all false: nothing is drawn";
}

}  // namespace cudavision
