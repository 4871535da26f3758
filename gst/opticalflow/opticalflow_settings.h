// SPDX-License-Identifier: LGPL-2.1-or-later
// The settings of cudaopticalflow: the values of its properties.
#pragma once

#include <gst/gst.h>

#include "cuda/opticalflow/opticalflow.h"

namespace cudavision {

enum class OpticalFlowDisplayMode { wheel, arrows };

struct OpticalFlowSettings : OpticalFlowParams {
  OpticalFlowPreset preset = OpticalFlowPreset::none;
  OpticalFlowDisplayMode display_mode = OpticalFlowDisplayMode::wheel;
  double max_speed = 8, arrow_scale = 4;
  guint32 color = 0xff00ff00;
  int line_width = 1;

  friend bool operator==(const OpticalFlowSettings &, const OpticalFlowSettings &) = default;
};

inline Status validate(const OpticalFlowSettings &settings) {
  return validate(static_cast<const OpticalFlowParams &>(settings));
}

}  // namespace cudavision
