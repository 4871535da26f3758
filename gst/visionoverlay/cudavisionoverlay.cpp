// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudavisionoverlay: its description and its properties.
/**
 * SECTION:element-cudavisionoverlay
 * @title: cudavisionoverlay
 * @short_description: Draws what the elements before it have found
 *
 * cudavisionoverlay draws the results that are attached to a frame, whoever attached them: regions of interest, object
 * detections of GstAnalytics (GStreamer 1.24), keypoints, lines, the tensors `edges`, `optical-flow` and `histogram`,
 * and the zones of #element-cudavisionzones. So a pipeline analyses with `display=false`, and draws once, at its end.
 * What one element alone has found looks as if that element had drawn it.
 *
 * The label of a box is its type, the id of its track with a `#` before it (#element-cudavisiontrack), and its score,
 * as far as they are known. The box of a track has a colour of its own. Tensors lie below everything else. Edges and
 * flow from a frame of another size are not drawn, nor is a flow that reaches beyond the region of interest. The axes
 * of a histogram have no numbers: its tensor does not know which values the bins stand for.
 *
 * Labels do not cover one another where there is room. With `trail`, the way of each track is drawn.
 *
 * The lines of #element-cudavisionzones are drawn with an arrow to their right side and, with `draw-labels`, the counts
 * to both sides; its zones with the number of objects in them. For half a second after an event they are wider.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=street.mp4 ! decodebin ! videoconvert ! cudahog model=people display=false \
 *   ! cudavisiontrack ! cudavisionoverlay ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.3
 */
#include <vector>

#include "cuda/hog/hog_primitives.h"
#include "cuda/sigma2kp/point_primitives.h"
#include "gst/base/element/element.h"
#include "gst/base/style/label_style.h"
#include "gst/visionoverlay/visionoverlay_operation.h"

namespace cudavision {
namespace {

struct VisionOverlayElement {
  using Operation = VisionOverlayOperation;

  static constexpr ElementText kText{
      "GstCudaVisionOverlay", "Overlay of results", "Filter/Effect/Video/Hardware",
      "Draws the regions, detections, keypoints, lines and tensors that are attached to frames, "
      "on an NVIDIA GPU or on the CPU"};

  static std::vector<Property<VisionOverlaySettings>> properties() {
    using S = VisionOverlaySettings;
    const auto max_drawn = [](const char *name, const char *blurb) {
      return integer_property<S>({name, "Maximum number of drawn lines", blurb}, &S::max_drawn, 0, G_MAXINT,
                                 Mutable::controllable);
    };
    return {
        boolean_property<S>({"regions", "Regions", "Draw regions of interest and object detections"},
                            &S::regions),
        boolean_property<S>({"keypoints", "Keypoints", "Draw keypoints"}, &S::keypoints),
        boolean_property<S>({"lines", "Lines", "Draw lines"}, &S::lines),
        boolean_property<S>({"tensors", "Tensors", "Draw edge maps, optical flow and histograms"},
                            &S::tensors),
        boolean_property<S>({"zones", "Zones", "Draw the lines, zones and counters of cudavisionzones"},
                            &S::zones),
        boolean_property<S>(
            {"draw-labels", "Draw labels", "Write the type, the id of the track and the score at each box"},
            &S::labels),
        deprecated(boolean_property<S>({"labels", "Labels", "The old name of draw-labels"}, &S::labels)),
        string_property<S>(
            {"show", "Show", "Types of the boxes that are drawn, separated by commas (default: all)"},
            &S::show),
        string_property<S>({"hide", "Hide", "Types of the boxes that are not drawn, separated by commas"},
                           &S::hide),
        real_property<S>(
            {"trail", "Trail",
             "For how many seconds one sees where the box of a track stood, by the middle of its "
             "lower edge (0 = no trails)"},
            &S::trail, 0.0, Trails::kMostSeconds),
        color_property<S>({"color", "Color", "Colour and opacity of boxes: " CUDAVISION_COLOR_WORDS},
                          &S::color),
        boolean_property<S>({"color-by-track", "Color by track",
                             "Draw the box of a track in a colour that depends on its id"},
                            &S::color_by_track),
        color_property<S>(
            {"keypoint-color", "Keypoint color", "Colour and opacity of keypoints: " CUDAVISION_COLOR_WORDS},
            &S::keypoint_color),
        color_property<S>(
            {"line-color", "Line color",
             "Colour and opacity of lines: direction (a hue for each direction), or " CUDAVISION_COLOR_WORDS},
            &S::line_color),
        color_property<S>(
            {"edge-color", "Edge color", "Colour and opacity of edges: " CUDAVISION_COLOR_WORDS},
            &S::edge_color),
        color_property<S>({"zone-color", "Zone color",
                           "Colour and opacity of lines, zones and counters: " CUDAVISION_COLOR_WORDS},
                          &S::zone_color),
        enum_property<S>({"flow-mode", "Flow mode", "How optical flow is shown"}, flow_display_mode_type(),
                         &S::display_mode, Mutable::controllable),
        real_property<S>(
            {"max-speed", "Maximum speed", "Speed of the full colour of flow-mode=wheel in pixels per frame"},
            &S::max_speed, FlowStyleRanges::max_speed),
        real_property<S>({"arrow-scale", "Arrow scale",
                          "Length of an arrow of flow-mode=arrows in pixels for a motion of one pixel"},
                         &S::arrow_scale, FlowStyleRanges::arrow_scale),
        integer_property<S>(
            {"line-width", "Line width", "Width of all lines in pixels " CUDAVISION_AUTOMATIC_WIDTH_WORDS},
            &S::line_width, kAutomaticWidth, HogStyleRanges::line_width.most, Mutable::controllable),
        integer_property<S>(
            {"point-size", "Point size",
             "Length of the arms of a keypoint in pixels (0 = automatic, by the frame and by the "
             "contrast of the keypoint)"},
            &S::point_size, kAutomaticWidth, PointStyleRanges::size.most, Mutable::controllable),
        integer_property<S>(
            {"text-size", "Text size",
             "Height of the letters of labels in pixels, in steps of 7 (0 = automatic, 7 for each 300 "
             "pixels of the frame's shorter side)"},
            &S::text_size, kAutomaticWidth, kMostTextSize, Mutable::controllable),
        real_property<S>({"label-opacity", "Label opacity", "Opacity of the background of labels"},
                         &S::label_opacity, 0.0, 1.0),
        real_property<S>(
            {"min-contrast", "Minimum contrast",
             "Keypoints whose response is less than the square of this many grey levels are not drawn"},
            &S::min_contrast, 0.0, 255.0),
        max_drawn("max-drawn", "The first lines are drawn, at most this many (0 = all)"),
        deprecated(max_drawn("max-lines", "The old name of max-drawn"))};
  }
};

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudavisionoverlay, cudavision::VisionOverlayElement)
