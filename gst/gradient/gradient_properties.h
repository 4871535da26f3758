// SPDX-License-Identifier: LGPL-2.1-or-later
// The enum types of elements that compute histograms of gradients.
#pragma once

#include "cuda/gradient/gradient.h"
#include "gst/base/element/properties.h"

namespace cudavision {

// The enum type of GradientOperator.
inline GType gradient_operator_type() {
  return enum_type("GstCudaVisionGradientOperator",
                   {{GradientOperator::sobel, "3x3, smoothed by 1 2 1", "sobel"},
                    {GradientOperator::central, "Difference of the two neighbours", "central"},
                    {GradientOperator::scharr, "3x3, smoothed by 3 10 3", "scharr"},
                    {GradientOperator::prewitt, "3x3, smoothed by 1 1 1", "prewitt"},
                    {GradientOperator::roberts, "Differences along the diagonals of 2x2 pixels", "roberts"}});
}

// The enum type of GradientWeight.
inline GType gradient_weight_type() {
  return enum_type(
      "GstCudaVisionGradientWeight",
      {{GradientWeight::count, "Each gradient adds 1", "count"},
       {GradientWeight::magnitude, "Each gradient adds its magnitude, sqrt(dx^2 + dy^2)", "magnitude"},
       {GradientWeight::sqrt_magnitude, "Each gradient adds the square root of its magnitude",
        "sqrt-magnitude"}});
}

}  // namespace cudavision
