// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of Canny, for every element that finds edges.
#pragma once

#include <vector>

#include "cuda/canny/canny.h"
#include "cuda/gaussian/gaussian.h"
#include "gst/base/element/properties.h"

namespace cudavision {

// The enum type of CannyParams::aperture.
inline GType canny_aperture_type() {
  return enum_type("GstCudaVisionCannyAperture",
                   {{3, "3x3 pixels", "3"}, {5, "5x5 pixels", "5"}, {7, "7x7 pixels", "7"}});
}

// The properties low-threshold, high-threshold, aperture and gaussian-sigma of settings S derived from CannyParams.
template <typename S>
std::vector<Property<S>> canny_properties() {
  return {real_property<S>({"low-threshold", "Low threshold",
                            "Pixels whose gradient exceeds this are edges if a chain of such pixels connects "
                            "them to one above high-threshold (units of the Sobel operator; if "
                            "low-threshold is the larger, the two are swapped)"},
                           &S::low_threshold, CannyRanges::low_threshold),
          real_property<S>({"high-threshold", "High threshold",
                            "Pixels whose gradient exceeds it are edges (units of the Sobel operator)"},
                           &S::high_threshold, CannyRanges::high_threshold),
          enum_property<S>({"aperture", "Aperture",
                            "Size of the Sobel operator in pixels; gradients grow with it, and thresholds "
                            "must grow too"},
                           canny_aperture_type(), &S::aperture, Mutable::controllable),
          real_property<S>({"gaussian-sigma", "Gaussian sigma",
                            "Smooth the picture first, as cv::GaussianBlur: standard deviation in pixels "
                            "(0 = off)"},
                           &S::gaussian_sigma, GaussianRanges::sigma)};
}

}  // namespace cudavision
