// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudacanny: its description and its properties.
/**
 * SECTION:element-cudacanny
 * @title: cudacanny
 * @short_description: Canny's edge detector
 *
 * cudacanny finds the edges of every frame, on an NVIDIA GPU or, without one, on the CPU. The result is byte for byte
 * that of OpenCV's `cv::Canny`. With `output=edges` the edge map replaces the picture: white edges on black. With
 * `output=overlay` the edges are drawn in a colour. The edge map is also attached as a #GstCudaVisionTensorMeta; with
 * `display=false` the frame keeps its pixels. The element analyses the luma: for RGB the result of `cv::cvtColor`, for
 * YUV the Y component. Pixels outside the region of interest never change.
 *
 * Thresholds are in units of the Sobel operator. A step of k grey levels has a gradient of 4 k with aperture 3, 48 k
 * with 5 and 640 k with 7: a threshold of 100 with aperture 3 corresponds to 1200 with 5 and to 16000 with 7.
 *
 * With `roi-type` only the regions of that type that the frame carries are analysed, such as `motion` of #cudabgsub.
 * There are no edges elsewhere.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudacanny ! videoconvert ! autovideosink
 * gst-launch-1.0 videotestsrc pattern=ball ! cudacanny output=overlay color=lime ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.2
 */
#include "gst/base/element/element.h"
#include "gst/canny/canny_operation.h"
#include "gst/canny/canny_properties.h"

namespace cudavision {
namespace {

GType output_type() {
  return enum_type(
      "GstCudaVisionCannyOutput",
      {{CannyOutput::edges, "The edge map replaces the picture: 255 on edges, 0 elsewhere", "edges"},
       {CannyOutput::overlay, "Edges are drawn on the picture in a colour", "overlay"}});
}

std::vector<Property<CannySettings>> own_properties() {
  using S = CannySettings;
  constexpr auto kControllable = Mutable::controllable;
  return {boolean_property<S>({"l2-gradient", "L2 gradient",
                               "Measure the gradient as sqrt(dx^2 + dy^2) instead of |dx| + |dy|"},
                              &S::l2_gradient, kControllable),
          boolean_property<S>(
              {"hysteresis", "Hysteresis",
               "Keep weak pixels that are connected to strong ones; otherwise keep strong pixels only"},
              &S::hysteresis, kControllable),
          enum_property<S>({"output", "Output", "How edges are shown when display is on"}, output_type(),
                           &S::output, kControllable),
          color_property<S>({"color", "Color", "Colour and opacity of drawn edges: " CUDAVISION_COLOR_WORDS},
                            &S::color),
          roi_type_property<S>()};
}

struct CannyElement {
  using Operation = CannyOperation;

  static constexpr ElementText kText{"GstCudaCanny", "Canny edge detector", "Filter/Effect/Video/Hardware",
                                     "Finds edges as cv::Canny does, on an NVIDIA GPU or on the CPU"};

  static std::vector<Property<CannySettings>> properties() {
    return joined(canny_properties<CannySettings>(), own_properties());
  }
};

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudacanny, cudavision::CannyElement)
