// SPDX-License-Identifier: LGPL-2.1-or-later
// The factories of the histogram's two backends.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/histogram/histogram.h"

namespace cudavision::histogram {

Status make_histogram_cpu(const Execution &execution, std::unique_ptr<Histogram> *histogram);
Status make_histogram_cuda(const Execution &execution, std::unique_ptr<Histogram> *histogram);

}  // namespace cudavision::histogram
