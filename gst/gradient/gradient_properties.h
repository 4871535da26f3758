// SPDX-License-Identifier: LGPL-2.1-or-later
// The enum types of elements that compute histograms of gradients.
#pragma once

#include <glib-object.h>

#include "cuda/gradient/gradient.h"

namespace cudavision {

// The enum type of GradientOperator.
inline GType gradient_operator_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(GradientOperator::sobel), "3x3, smoothed by 1 2 1", "sobel"},
      {static_cast<int>(GradientOperator::central), "Difference of the two neighbours", "central"},
      {static_cast<int>(GradientOperator::scharr), "3x3, smoothed by 3 10 3", "scharr"},
      {static_cast<int>(GradientOperator::prewitt), "3x3, smoothed by 1 1 1", "prewitt"},
      {static_cast<int>(GradientOperator::roberts), "Differences along the diagonals of 2x2 pixels",
       "roberts"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionGradientOperator", values);
  return type;
}

// The enum type of GradientWeight.
inline GType gradient_weight_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(GradientWeight::count), "Each gradient adds 1", "count"},
      {static_cast<int>(GradientWeight::magnitude), "Each gradient adds its magnitude, sqrt(dx^2 + dy^2)",
       "magnitude"},
      {static_cast<int>(GradientWeight::sqrt_magnitude),
       "Each gradient adds the square root of its magnitude", "sqrt-magnitude"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionGradientWeight", values);
  return type;
}

}  // namespace cudavision
