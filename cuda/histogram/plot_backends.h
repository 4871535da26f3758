// SPDX-License-Identifier: LGPL-2.1-or-later
// The two backends of plotting a histogram.
#pragma once

#include "cuda/histogram/plot.h"

namespace cudavision::histogram {

Status plot_cpu(const Execution &execution, const std::uint32_t *counts, int channels, int bins,
                const HistogramPlot &plot, Primitive *primitives);
Status plot_cuda(const Execution &execution, const std::uint32_t *counts, int channels, int bins,
                 const HistogramPlot &plot, Primitive *primitives);

}  // namespace cudavision::histogram
