// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of Canny that every element has which finds edges.
#pragma once

#include <vector>

#include "gst/base/properties.h"
#include "cuda/canny/canny.h"

namespace cudavision {

// The GEnum of CannyParams::aperture.
GType canny_aperture_type();

// low-threshold, high-threshold, aperture and gaussian-sigma of settings S, which is or holds CannyParams as
// a base.
template <typename S>
std::vector<Property<S>> canny_properties() {
  return {
      real_property<S>({"low-threshold", "Low threshold",
                        "Pixels whose gradient exceeds it are edges where they hang together with a pixel "
                        "above high-threshold (units of the Sobel operator; swapped if it is the larger)"},
                       &S::low_threshold, 0, 1e7),
      real_property<S>({"high-threshold", "High threshold",
                        "Pixels whose gradient exceeds it are edges (units of the Sobel operator)"},
                       &S::high_threshold, 0, 1e7),
      enum_property<S>({"aperture", "Aperture",
                        "Size of the Sobel operator in pixels; gradients, and with them fitting "
                        "thresholds, grow with it"},
                       canny_aperture_type(), &S::aperture, Mutable::controllable),
      real_property<S>({"gaussian-sigma", "Gaussian sigma",
                        "Smoothing before all else, in pixels (0 = off), as cv::GaussianBlur"},
                       &S::gaussian_sigma, 0, 16)};
}

}  // namespace cudavision
