// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudaopticalflow: its description and its properties.
/**
 * SECTION:element-cudaopticalflow
 * @title: cudaopticalflow
 * @short_description: The motion of every pixel
 *
 * cudaopticalflow computes the displacement of every pixel from the previous frame to the current one:
 * pyramidal Lucas-Kanade with the rules of OpenCV's `cv::calcOpticalFlowPyrLK`, at every pixel, on an NVIDIA
 * GPU or, without one, on the CPU. The vectors are attached as the tensor `optical-flow`, `[rows][cols][2]`,
 * f32: x to the right and y downwards, in pixels per frame. A second tensor `optical-flow-valid`,
 * `[rows][cols]`, u8, is 1 where the vector is valid, and 0 where the picture has no texture or where the
 * pixel left the frame. With `stride` s, element (i, j) belongs to pixel (s i, s j).
 *
 * With `display` colours are blended over the dimmed picture: the hue shows the direction, the opacity of the
 * colour shows the speed. Pixels that do not move show the dimmed picture, and pixels without a valid vector a
 * darker one. A small wheel in the corner shows which direction has which hue. With `display-mode=arrows`,
 * arrows are drawn on the picture instead: the mean motion of square cells.
 *
 * The first frame, and the first one after a flush, a jump in time, new caps or a change of the region, has no flow: it
 * gets no tensor and is not changed. With `every-nth` the flow is computed from the last frame that was processed.
 *
 * With `roi-type` vectors are computed only in regions of that type that the frame carries, such as `motion` of
 * #cudabgsub; elsewhere they are invalid.
 *
 * `preset` sets several properties at once; properties that are set after it keep their own values.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudaopticalflow preset=fast ! videoconvert \
 *   ! autovideosink
 * gst-launch-1.0 v4l2src ! videoconvert ! cudaopticalflow preset=fast display-mode=arrows ! videoconvert \
 *   ! autovideosink
 * ]|
 *
 * Since: 0.2
 */
#include "gst/base/element/element.h"
#include "gst/opticalflow/opticalflow_operation.h"

namespace cudavision {
namespace {

GType preset_type() {
  return enum_type(
      "GstCudaVisionFlowPreset",
      {{OpticalFlowPreset::none, "Sets nothing", "none"},
       {OpticalFlowPreset::fast,
        "window-size=15 levels=3 iterations=5 epsilon=0.03 stride=4 forward-backward=0", "fast"},
       {OpticalFlowPreset::medium,
        "window-size=15 levels=3 iterations=10 epsilon=0.03 stride=2 forward-backward=0", "medium"},
       {OpticalFlowPreset::quality,
        "window-size=21 levels=4 iterations=30 epsilon=0.01 stride=1 forward-backward=1", "quality"}});
}

GType stride_type() {
  return enum_type("GstCudaVisionFlowStride", {{1, "Every pixel", "1"},
                                               {2, "Every 2nd pixel of every 2nd row", "2"},
                                               {4, "Every 4th pixel of every 4th row", "4"},
                                               {8, "Every 8th pixel of every 8th row", "8"}});
}

// Setting this property sets the properties of the preset too.
Property<OpticalFlowSettings> preset_property() {
  Property<OpticalFlowSettings> property =
      enum_property<OpticalFlowSettings>({"preset", "Preset",
                                          "Sets window-size, levels, iterations, epsilon, stride and "
                                          "forward-backward; properties set after it keep "
                                          "their own values"},
                                         preset_type(), &OpticalFlowSettings::preset);
  property.set = [](OpticalFlowSettings &settings, const GValue *value) {
    settings.preset = static_cast<OpticalFlowPreset>(g_value_get_enum(value));
    apply_preset(settings.preset, &settings);
  };
  return property;
}

std::vector<Property<OpticalFlowSettings>> flow_properties() {
  using S = OpticalFlowSettings;
  return {
      preset_property(),
      integer_property<S>(
          {"window-size", "Window size", "Side of the window around each pixel, in pixels; must be odd"},
          &S::window_size, OpticalFlowRanges::window_size),
      integer_property<S>({"levels", "Levels",
                           "Levels of the pyramid above the frame; each doubles the largest motion that "
                           "is found (OpenCV's maxLevel)"},
                          &S::levels, OpticalFlowRanges::levels),
      integer_property<S>({"iterations", "Iterations", "Maximum number of steps on each level"},
                          &S::iterations, OpticalFlowRanges::iterations),
      real_property<S>(
          {"epsilon", "Epsilon", "The iteration stops after a step of at most this length, in pixels"},
          &S::epsilon, OpticalFlowRanges::epsilon),
      real_property<S>(
          {"min-eigenvalue", "Minimum eigenvalue",
           "Vectors are invalid where the texture of the window in its weakest direction is less "
           "than this (OpenCV's minEigThreshold)"},
          &S::min_eigenvalue, OpticalFlowRanges::min_eigenvalue),
      enum_property<S>({"stride", "Stride", "Pixels from one vector to the next, in x and y"}, stride_type(),
                       &S::stride),
      real_property<S>({"forward-backward", "Forward-backward",
                        "Vectors are invalid where following the vector and then the backward flow ends more "
                        "than this many pixels from the start (0 = no check; the check doubles the time)"},
                       &S::forward_backward, OpticalFlowRanges::forward_backward),
      roi_type_property<S>()};
}

std::vector<Property<OpticalFlowSettings>> display_properties() {
  using S = OpticalFlowSettings;
  return {enum_property<S>({"display-mode", "Display mode", "How the flow is shown when display is on"},
                           flow_display_mode_type(), &S::display_mode, Mutable::controllable),
          real_property<S>({"max-speed", "Maximum speed", "Speed of the full colour in pixels per frame"},
                           &S::max_speed, FlowStyleRanges::max_speed),
          real_property<S>(
              {"arrow-scale", "Arrow scale", "Length of an arrow in pixels for a motion of one pixel"},
              &S::arrow_scale, FlowStyleRanges::arrow_scale),
          color_property<S>(
              {"color", "Color",
               "Colour and opacity of arrows: " CUDAVISION_COLOR_WORDS "; direction = as on the wheel"},
              &S::color),
          integer_property<S>({"line-width", "Line width",
                               "Width of the lines of arrows in pixels " CUDAVISION_AUTOMATIC_WIDTH_WORDS},
                              &S::line_width, kAutomaticWidth, 255, Mutable::controllable),
          boolean_property<S>(
              {"legend", "Legend",
               "Draw the colour wheel in the top left corner, unless the region of interest is too small"},
              &S::legend, Mutable::controllable)};
}

struct OpticalFlowElement {
  using Operation = OpticalFlowOperation;

  static constexpr ElementText kText{
      "GstCudaOpticalFlow", "Optical flow", "Filter/Analyzer/Video/Hardware",
      "Finds the motion of every pixel by pyramidal Lucas-Kanade, on an NVIDIA GPU or on the CPU",
      "preset=fast"};

  static std::vector<Property<OpticalFlowSettings>> properties() {
    return joined(flow_properties(), display_properties());
  }
};

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudaopticalflow, cudavision::OpticalFlowElement)
