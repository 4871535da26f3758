// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudalocalhist.
#pragma once

#include <gst/gst.h>

#include "cuda/localhist/localhist.h"

namespace cudavision {

struct LocalHistSettings {
  LocalFeature feature = LocalFeature::gradient;
  GradientOperator op = GradientOperator::sobel;
  GradientWeight weight = GradientWeight::count;
  int bins = 9, window_width = 16, window_height = 16, stride_x = 1, stride_y = 1;
  HistogramLayout layout = HistogramLayout::interleaved;
  LocalReduction reduction = LocalReduction::none;
  // Of the frame; a size of 0 reaches to the end of what is analysed.
  int model_x = 0, model_y = 0, model_width = 0, model_height = 0;
  guint64 model_changes = 0;  // how often one of these was set, to the same value too
  guint64 max_memory = 0;     // bytes; 0: what there is

  friend bool operator==(const LocalHistSettings &, const LocalHistSettings &) = default;
  LocalHistogramParams params() const {
    return {feature, op, weight, bins, {window_width, window_height}, stride_x, stride_y, layout, reduction};
  }
};

inline Status validate(const LocalHistSettings &settings) { return validate(settings.params()); }

}  // namespace cudavision
