// SPDX-License-Identifier: LGPL-2.1-or-later
// The settings of cudalocalhist: the values of its properties.
#pragma once

#include <gst/gst.h>

#include "cuda/localhist/localhist.h"

namespace cudavision {

struct LocalHistSettings {
  LocalHistFeature feature = LocalHistFeature::gradient;
  GradientOperator op = GradientOperator::sobel;
  GradientWeight weight = GradientWeight::count;
  int bins = 9, window_width = 16, window_height = 16, stride_x = 1, stride_y = 1;
  LocalHistLayout layout = LocalHistLayout::interleaved;
  LocalHistReduction reduction = LocalHistReduction::none;
  // The model's region in the frame. A width or height of 0 extends it to the end of the analysed region.
  int model_x = 0, model_y = 0, model_width = 0, model_height = 0;
  guint64 model_changes = 0;  // counts how often one of these four was set, even to the same value

  friend bool operator==(const LocalHistSettings &, const LocalHistSettings &) = default;
  LocalHistParams params() const {
    return {.feature = feature,
            .op = op,
            .weight = weight,
            .bins = bins,
            .window = {window_width, window_height},
            .stride_x = stride_x,
            .stride_y = stride_y,
            .layout = layout,
            .reduction = reduction};
  }
};

inline Status validate(const LocalHistSettings &settings) { return validate(settings.params()); }

}  // namespace cudavision
