// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of bins that both backends of the histogram use.
#pragma once

#include "cuda/histogram/histogram.h"

namespace cudavision::histogram {

constexpr int kValues = 256;  // the number of values of a sample

constexpr std::int16_t kOutOfRange = -1;

// The bin of each value, or kOutOfRange.
struct BinTable {
  std::int16_t bin[kValues];
};
BinTable bin_table(const HistogramParams &params);

}  // namespace cudavision::histogram
