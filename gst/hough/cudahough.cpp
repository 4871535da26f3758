// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudahough: its description and its properties.
/**
 * SECTION:element-cudahough
 * @title: cudahough
 * @short_description: Straight lines and segments
 *
 * cudahough finds the edges of each frame as #cudacanny does, and straight lines in them. By default, neighbours of
 * stronger lines are dropped, and the threshold grows with the frame. With `nms-radius=0` the lines equal those of
 * `cv::HoughLines` with the same `threshold` in value, votes and order. With `mode=segments` it reports where lines
 * begin and end. The lines are attached as a #GstCudaVisionLinesMeta, most votes first, in coordinates of the frame,
 * and drawn with `display`. With `input=edges` the luma is used as an edge map: every nonzero pixel is an edge.
 *
 * With `roi-type` only edges in the regions of that type that the frame carries vote, such as `motion` of #cudabgsub.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=road.mp4 ! decodebin ! videoconvert ! cudahough ! videoconvert ! autovideosink
 * gst-launch-1.0 v4l2src ! videoconvert ! cudahough mode=segments threshold=80 min-length=60 ! videoconvert \
 *   ! autovideosink
 * gst-launch-1.0 videotestsrc ! cudacanny ! cudahough input=edges display=false ! cudavisionjson ! fakesink
 * ]|
 *
 * Since: 0.2
 */
#include "cuda/hough/line_primitives.h"
#include "gst/base/element/element.h"
#include "gst/canny/canny_properties.h"
#include "gst/hough/hough_operation.h"

namespace cudavision {
namespace {

GType mode_type() {
  return enum_type(
      "GstCudaVisionHoughMode",
      {{HoughMode::lines, "Straight lines; with nms-radius=0 all lines that cv::HoughLines finds", "lines"},
       {HoughMode::segments, "The parts of lines on which there are edges", "segments"}});
}

GType input_type() {
  return enum_type("GstCudaVisionHoughInput",
                   {{HoughInput::picture, "A picture; its edges are found as by cudacanny", "picture"},
                    {HoughInput::edges, "An edge map: every nonzero pixel of the luma is an edge", "edges"}});
}

std::vector<Property<HoughSettings>> search_properties() {
  using S = HoughSettings;
  using R = HoughRanges;
  constexpr auto kControllable = Mutable::controllable;
  return {
      enum_property<S>({"input", "Input", "The kind of frames"}, input_type(), &S::input),
      enum_property<S>({"mode", "Mode", "What to find"}, mode_type(), &S::mode),
      real_property<S>({"rho", "Rho", "Resolution of the distance in pixels"}, &S::rho, R::rho),
      // The algorithm accepts pi rounded up to a float; these properties end at pi itself.
      real_property<S>({"theta", "Theta", "Resolution of the angle in radians"}, &S::theta, R::theta.least,
                       G_PI),
      real_property<S>({"min-theta", "Minimum theta",
                        "Smallest direction of the normals of lines, in radians from +x toward +y (at "
                        "most max-theta); min-angle says it in degrees of the line"},
                       &S::min_theta, 0, G_PI),
      real_property<S>({"max-theta", "Maximum theta",
                        "Largest direction of the normals of lines, in radians from +x toward +y (at "
                        "least min-theta)"},
                       &S::max_theta, R::max_theta.least, G_PI),
      real_property<S>(
          {"min-angle", "Minimum angle",
           "Smallest angle of lines, in degrees from +x toward +y: 0 is horizontal, 90 vertical (above "
           "max-angle, the range goes through 0: 170 to 10 is horizontal within 10 degrees)"},
          &S::min_angle, 0, 180),
      real_property<S>({"max-angle", "Maximum angle", "Largest angle of lines, in degrees from +x toward +y"},
                       &S::max_angle, 0, 180),
      integer_property<S>({"threshold", "Threshold",
                           "Lines must have more votes than this (-1 = 30 plus a fifth of the shorter side "
                           "of the region)"},
                          &S::threshold, S::kAutomaticThreshold, R::threshold.most, kControllable),
      integer_property<S>({"max-lines", "Maximum number of lines",
                           "Maximum number of listed lines or segments, those with the most votes; a "
                           "warning reports truncation"},
                          &S::max_lines, R::max_lines),
      integer_property<S>({"nms-radius", "Radius of non-maximum suppression",
                           "A line is dropped if a line within this many steps of rho and theta has more "
                           "votes (0 = every line, as cv::HoughLines)"},
                          &S::nms_radius, R::nms_radius, kControllable),
      boolean_property<S>({"gradient-voting", "Gradient voting",
                           "Edge pixels vote only for lines within 9 degrees of their gradient, which is "
                           "about a tenth of the votes (not with input=edges)"},
                          &S::gradient_voting, kControllable),
      integer_property<S>(
          {"min-length", "Minimum length", "Minimum distance between the ends of a segment in pixels"},
          &S::min_length, R::min_length, kControllable),
      integer_property<S>(
          {"max-gap", "Maximum gap", "Maximum number of consecutive pixels of a segment without an edge"},
          &S::max_gap, R::max_gap, kControllable),
      roi_type_property<S>()};
}

std::vector<Property<HoughSettings>> drawing_properties() {
  using S = HoughSettings;
  return {
      color_property<S>({"color", "Color",
                         "Colour and opacity of drawn lines: " CUDAVISION_COLOR_WORDS
                         "; direction = a hue for each direction"},
                        &S::color),
      integer_property<S>(
          {"line-width", "Line width", "Width of drawn lines in pixels " CUDAVISION_AUTOMATIC_WIDTH_WORDS},
          &S::line_width, kAutomaticWidth, LineStyleRanges::line_width.most, Mutable::controllable),
      integer_property<S>(
          {"max-drawn", "Maximum number of drawn lines",
           "Draw at most this many lines, those with the most votes (0 = all); the attached list is not "
           "shortened"},
          &S::max_drawn, 0, HoughRanges::max_lines.most, Mutable::controllable)};
}

struct HoughElement {
  using Operation = HoughOperation;

  static constexpr ElementText kText{"GstCudaHough", "Hough line detector", "Filter/Analyzer/Video/Hardware",
                                     "Finds straight lines and segments on an NVIDIA GPU or on the CPU, with "
                                     "nms-radius=0 as cv::HoughLines"};

  static std::vector<Property<HoughSettings>> properties() {
    return joined(joined(search_properties(), canny_properties<HoughSettings>()), drawing_properties());
  }
};

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudahough, cudavision::HoughElement)
