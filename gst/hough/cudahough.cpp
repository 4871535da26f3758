// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudahough: its description and its properties.
/**
 * SECTION:element-cudahough
 * @title: cudahough
 * @short_description: Straight lines and segments
 *
 * cudahough finds the edges of every frame as #cudacanny does and in them straight lines: with `mode=lines` those of
 * OpenCV's `cv::HoughLines`, in value, votes and order; with `mode=segments` where they begin and end. They are attached
 * as a #GstCudaVisionLinesMeta, most votes first, in coordinates of the frame, and drawn with `display`. With
 * `input=edges` the luma is taken for a ready map of edges: whatever is not 0 is one.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=road.mp4 ! decodebin ! videoconvert ! cudahough ! videoconvert ! autovideosink
 * gst-launch-1.0 v4l2src ! videoconvert ! cudahough mode=segments threshold=80 min-length=60 ! videoconvert ! autovideosink
 * gst-launch-1.0 videotestsrc ! cudacanny ! cudahough input=edges display=false ! cudavisionjson ! fakesink
 * ]|
 */
#include "gst/base/element.h"
#include "gst/canny/canny_properties.h"
#include "gst/hough/hough_operation.h"

namespace cudavision {
namespace {

GType mode_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(HoughMode::lines), "Lines, as cv::HoughLines finds them", "lines"},
      {static_cast<int>(HoughMode::segments), "The segments of lines that edges follow", "segments"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionHoughMode", values);
  return type;
}

GType input_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(HoughInput::picture), "A picture, whose edges are found as cudacanny does", "picture"},
      {static_cast<int>(HoughInput::edges), "A map of edges: whatever is not 0 in the luma is one", "edges"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionHoughInput", values);
  return type;
}

std::vector<Property<HoughSettings>> search_properties() {
  using S = HoughSettings;
  constexpr auto kControllable = Mutable::controllable;
  return {
      enum_property<S>({"input", "Input", "What the frames are"}, input_type(), &S::input),
      enum_property<S>({"mode", "Mode", "What is looked for"}, mode_type(), &S::mode),
      real_property<S>({"rho", "Rho", "Distance between two lines of one direction in pixels"},
                                   &S::rho, 0.01, 1000),
      real_property<S>({"theta", "Theta", "Angle between two directions in radians"}, &S::theta,
                                   1e-4, G_PI),
      real_property<S>(
          {"min-theta", "Minimum theta",
           "The first direction of the normals of lines, in radians from +x toward +y (at most max-theta)"},
          &S::min_theta, 0, G_PI),
      real_property<S>(
          {"max-theta", "Maximum theta",
           "Where the directions of the normals of lines end, in radians (at least min-theta)"},
          &S::max_theta, 0, G_PI),
      integer_property<S>({"threshold", "Threshold", "Lines have more votes than this"},
                                      &S::threshold, 0, G_MAXINT, kControllable),
      integer_property<S>({"max-lines", "Maximum of lines",
                                       "How many lines or segments are listed at most: those of most votes; "
                                       "a warning says when there are more"},
                                      &S::max_lines, 1, 1000000),
      integer_property<S>({"nms-radius", "Radius of non-maximum suppression",
                                       "Of lines that differ by so many steps of rho and theta, only the one "
                                       "of most votes counts (0 = as "
                                       "cv::HoughLines)"},
                                      &S::nms_radius, 0, 32, kControllable),
      boolean_property<S>(
          {"gradient-voting", "Gradient voting",
           "Edge pixels vote only for lines within 9 degrees of their gradient: about a "
           "tenth of the votes (not with input=edges)"},
          &S::gradient_voting, kControllable),
      integer_property<S>(
          {"min-length", "Minimum length", "Segments are at least so long, in pixels between their ends"},
          &S::min_length, 1, 32768, kControllable),
      integer_property<S>(
          {"max-gap", "Maximum gap", "Segments may lack edges for so many pixels in a row"}, &S::max_gap, 0,
          16384, kControllable)};
}

std::vector<Property<HoughSettings>> drawing_properties() {
  using S = HoughSettings;
  return {color_property<S>({"color", "Color", "Colour and opacity of drawn lines as 0xAARRGGBB (default opaque red)"},
                            &S::color),
          integer_property<S>({"line-width", "Line width", "Width of drawn lines in pixels"}, &S::line_width, 1, 255,
                              Mutable::controllable)};
}

struct HoughElement {
  using State = HoughOperation::State;
  using Operation = HoughOperation;

  static constexpr ElementText kText{
      "GstCudaVisionHough", "Hough line detector", "Filter/Analyzer/Video/Hardware",
      "Finds straight lines as cv::HoughLines does, and segments, on an NVIDIA GPU or on the CPU"};

  static std::vector<Property<HoughSettings>> properties() {
    return joined(joined(search_properties(), canny_properties<HoughSettings>()), drawing_properties());
  }
};

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudahough, cudavision::HoughElement)
