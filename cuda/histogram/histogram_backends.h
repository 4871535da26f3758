// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of the histogram and of its plot, and the table of bins that they share.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/histogram/histogram.h"
#include "cuda/histogram/plot.h"

namespace cudavision::histogram {

constexpr int kValues = 256;  // the number of values of a sample

constexpr std::int16_t kOutOfRange = -1;

// The bin of each value, or kOutOfRange.
struct BinTable {
  std::int16_t bin[kValues];
};

// Keeps the table from frame to frame.
class Bins {
 public:
  // Makes the table anew only if the parameters have changed. They must be valid.
  const BinTable &of(const HistogramParams &params);

 private:
  HistogramParams params_{.bins = 0};  // none are valid
  BinTable table_{};
};

decltype(make_histogram) make_histogram_cpu, make_histogram_cuda;
decltype(plot_histogram) plot_cpu, plot_cuda;

}  // namespace cudavision::histogram
