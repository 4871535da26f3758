// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudasigma2kp: its description and its properties.
/**
 * SECTION:element-cudasigma2kp
 * @title: cudasigma2kp
 * @short_description: Keypoints of greatest local variance
 *
 * cudasigma2kp is the sigma^2 keypoint detector of Zalesky and Trotski (2018). In each cell, a small square
 * of windows, the window whose luma has the greatest variance is a keypoint if it lies near the centre of the
 * cell. Changes of brightness or contrast do not change the set of keypoints; as a consequence, smooth areas
 * have keypoints as well. The keypoints are attached as a #GstCudaVisionKeypointsMeta in row-major order: the
 * centre of the window, its variance in grey levels squared as the response, and with `orientation` the
 * dominant angle of the gradients around it. With `display` and enough contrast (`min-contrast`) each
 * keypoint is drawn as a cross, or as a point with a line along its orientation.
 *
 * With `roi-type` keypoints are found only in the frame's regions of that type, such as `motion` of #cudabgsub.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert \
 *   ! cudasigma2kp orientation=true max-keypoints=1000 ! videoconvert ! autovideosink
 * gst-launch-1.0 v4l2src ! videoconvert ! cudasigma2kp min-distance=8 ! videoconvert ! autovideosink
 * gst-launch-1.0 videotestsrc ! cudasigma2kp display=false ! cudavisionjson ! fakesink
 * ]|
 *
 * Since: 0.2
 */
#include "cuda/sigma2kp/point_primitives.h"
#include "gst/base/element/element.h"
#include "gst/gradient/gradient_properties.h"
#include "gst/sigma2kp/sigma2kp_operation.h"

namespace cudavision {
namespace {

GType definition_type() {
  return enum_type(
      "GstCudaVisionSigma2Definition",
      {{Sigma2KpDefinition::grid, "Cells of grids that cover the picture", "grid"},
       {Sigma2KpDefinition::dense, "A cell around every pixel: many times as many keypoints", "dense"}});
}

GType grids_type() {
  return enum_type("GstCudaVisionSigma2Grids",
                   {{2, "One grid, and one shifted by half a cell along both axes", "2"},
                    {4, "Also grids shifted by half a cell along x only and along y only", "4"}});
}

// The properties that decide which keypoints are listed.
std::vector<Property<Sigma2KpSettings>> search_properties() {
  using S = Sigma2KpSettings;
  using R = Sigma2KpRanges;
  return {
      integer_property<S>({"window", "Window", "Side of the windows whose variances are compared, in pixels"},
                          &S::window, R::window),
      integer_property<S>({"cell", "Cell",
                           "Side of the cells in which the greatest variance is searched, in windows (one "
                           "begins at every pixel)"},
                          &S::cell, R::cell),
      real_property<S>({"tau", "Tau",
                        "A keypoint must be closer than this to the centre of its cell, in pixels; with "
                        "definition=dense not farther than this (less than half of cell)"},
                       &S::tau, R::tau),
      enum_property<S>({"grids", "Grids", "Number of grids of cells that cover the picture"}, grids_type(),
                       &S::grids),
      enum_property<S>({"definition", "Definition", "Positions of the cells"}, definition_type(),
                       &S::definition),
      integer_property<S>({"min-distance", "Minimum distance",
                           "A keypoint is dropped if a stronger one is closer than this, in pixels (0 = "
                           "off)"},
                          &S::min_distance, R::min_distance, Mutable::controllable),
      integer_property<S>({"max-keypoints", "Maximum number of keypoints",
                           "Maximum number of listed keypoints, those of greatest variance; if the default "
                           "value shortens the list, one warning is posted"},
                          &S::max_keypoints, R::max_keypoints),
      roi_type_property<S>()};
}

std::vector<Property<Sigma2KpSettings>> orientation_properties() {
  using S = Sigma2KpSettings;
  using R = Sigma2KpRanges;
  return {boolean_property<S>({"orientation", "Orientation",
                               "Compute the dominant direction of the gradients around keypoints"},
                              &S::orientation),
          integer_property<S>({"orientation-window", "Orientation window",
                               "Side of the square around a keypoint in which gradients are counted, in "
                               "pixels"},
                              &S::orientation_window, R::orientation_window),
          integer_property<S>({"orientation-bins", "Orientation bins",
                               "Number of bins of the histogram of gradient directions"},
                              &S::orientation_bins, R::orientation_bins),
          enum_property<S>({"operator", "Operator", "Gradient operator"}, gradient_operator_type(), &S::op),
          enum_property<S>({"weight", "Weight", "Weight of a gradient in the histogram"},
                           gradient_weight_type(), &S::weight)};
}

std::vector<Property<Sigma2KpSettings>> drawing_properties() {
  using S = Sigma2KpSettings;
  return {
      color_property<S>({"color", "Color", "Colour and opacity of drawn keypoints: " CUDAVISION_COLOR_WORDS},
                        &S::color),
      integer_property<S>({"point-size", "Point size",
                           "Length of the arms of a drawn cross in pixels (0 = automatic, by the size of the "
                           "frame and the contrast of the keypoint); the line of an orientation is four "
                           "times as long"},
                          &S::point_size, kAutomaticWidth, PointStyleRanges::size.most,
                          Mutable::controllable),
      integer_property<S>(
          {"line-width", "Line width", "Width of drawn lines in pixels " CUDAVISION_AUTOMATIC_WIDTH_WORDS},
          &S::line_width, kAutomaticWidth, PointStyleRanges::line_width.most, Mutable::controllable),
      real_property<S>({"min-contrast", "Minimum contrast",
                        "Draw only keypoints whose windows have at least this standard deviation, in grey "
                        "levels (0 = all); the list stays whole"},
                       &S::min_contrast, 0, 128)};
}

struct Sigma2KpElement {
  using Operation = Sigma2KpOperation;

  static constexpr ElementText kText{"GstCudaSigma2Kp", "Keypoints of local variance",
                                     "Filter/Analyzer/Video/Hardware",
                                     "Finds keypoints of greatest local variance and their orientation on an "
                                     "NVIDIA GPU or on the CPU"};

  static std::vector<Property<Sigma2KpSettings>> properties() {
    return joined(joined(search_properties(), orientation_properties()), drawing_properties());
  }
};

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudasigma2kp, cudavision::Sigma2KpElement)
