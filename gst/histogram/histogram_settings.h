// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudahistogram.
#pragma once

#include "cuda/histogram/histogram.h"

namespace cudavision {

enum class HistogramMode { luma, channels };

struct HistogramSettings : HistogramParams {
  HistogramMode mode = HistogramMode::luma;

  friend bool operator==(const HistogramSettings &, const HistogramSettings &) = default;
};

}  // namespace cudavision
