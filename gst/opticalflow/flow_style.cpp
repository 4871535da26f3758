// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/opticalflow/flow_style.h"

#include <algorithm>

#include "gst/base/element/properties.h"
#include "gst/base/frame/format.h"
#include "gst/base/style/line_width.h"

namespace cudavision {
namespace {

// Sets the corners of the colour wheel: red, yellow, green, cyan, blue, magenta.
void set_corners(const GstVideoInfo &info, Color (&corners)[6]) {
  static constexpr guint32 kCorners[6] = {0xffff0000, 0xffffff00, 0xff00ff00,
                                          0xff00ffff, 0xff0000ff, 0xffff00ff};
  for (int i = 0; i < 6; ++i) corners[i] = color_of(kCorners[i], info);
}

}  // namespace

GType flow_display_mode_type() {
  return enum_type(
      "GstCudaVisionFlowDisplayMode",
      {{OpticalFlowDisplayMode::wheel,
        "Colours lie over the dimmed picture: the hue shows the direction, the opacity of the colour shows "
        "the speed; where no vector is valid, the picture is darker",
        "wheel"},
       {OpticalFlowDisplayMode::arrows, "Arrows are drawn on the picture", "arrows"}});
}

FlowWheel wheel_of(const GstVideoInfo &info, const FlowStyle &style, Size region) {
  FlowWheel wheel;
  set_corners(info, wheel.corners);
  wheel.black = color_of(0xff000000, info);
  wheel.ring = color_of(0xffffffff, info);
  wheel.max_speed = static_cast<float>(style.max_speed);
  wheel.legend_radius = style.legend ? legend_radius_for(region) : 0;
  return wheel;
}

FlowArrows arrows_of(const GstVideoInfo &info, const FlowStyle &style, const ColorText &color, int line_width,
                     Size frame) {
  FlowArrows arrows;
  arrows.scale = static_cast<float>(style.arrow_scale);
  arrows.line_width = width_for(line_width, frame);
  if (color.is_by_direction())
    set_corners(info, arrows.colors);
  else
    std::fill_n(arrows.colors, 6, color_of(color.argb(), info));
  return arrows;
}

}  // namespace cudavision
