// SPDX-License-Identifier: LGPL-2.1-or-later
// What both backends of the histogram share.
#pragma once

#include "cuda/histogram/histogram.h"

namespace cudavision::histogram {

constexpr int kValues = 256;  // of a sample

// The bin of each value, kNoBin outside the range.
constexpr std::int16_t kNoBin = -1;
struct BinTable {
  std::int16_t bin[kValues];
};
BinTable bin_table(const HistogramParams &params);

Status make_histogram_cpu(const Execution &execution, std::unique_ptr<Histogram> *histogram);
Status make_histogram_cuda(const Execution &execution, std::unique_ptr<Histogram> *histogram);

}  // namespace cudavision::histogram
