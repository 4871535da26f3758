// SPDX-License-Identifier: LGPL-2.1-or-later
// How optical flow is shown, for every element that draws it.
#pragma once

#include <gst/video/video.h>

#include "cuda/opticalflow/flow_display.h"
#include "gst/base/style/color_text.h"

namespace cudavision {

enum class OpticalFlowDisplayMode { wheel, arrows };

// The enum type of OpticalFlowDisplayMode.
GType flow_display_mode_type();

struct FlowStyle {
  OpticalFlowDisplayMode display_mode = OpticalFlowDisplayMode::wheel;
  double max_speed = 8, arrow_scale = 4;
  bool legend = true;

  friend bool operator==(const FlowStyle &, const FlowStyle &) = default;
};
struct FlowStyleRanges {
  static constexpr Range<double> max_speed{0.01, 1000}, arrow_scale{0.1, 100};
};

FlowWheel wheel_of(const GstVideoInfo &info, const FlowStyle &style, Size region);
// line_width: the value of the property, which may be kAutomaticWidth.
FlowArrows arrows_of(const GstVideoInfo &info, const FlowStyle &style, const ColorText &color, int line_width,
                     Size frame);

}  // namespace cudavision
