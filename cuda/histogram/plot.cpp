// SPDX-License-Identifier: LGPL-2.1-or-later
// The plot of a histogram: its place, validation, and choice of a backend.
#include "cuda/histogram/plot.h"

#include <algorithm>

#include "cuda/common/backends.h"
#include "cuda/histogram/plot_backends.h"

namespace cudavision {

HistogramPlot place_plot(Region region, int channels) {
  HistogramPlot plot;
  plot.line_width = std::max(1, region.height / 720);
  const int gap = std::min(region.width, region.height) / 40;
  const int width = std::max(region.width * 2 / 5, 256 + 2 * plot.line_width);
  const int height = std::max(region.height / 3, 48 * channels);
  plot.area.width = std::max(1, std::min(width, region.width - 2 * gap));
  plot.area.height = std::max(1, std::min(height, region.height - 2 * gap));
  plot.area.x = region.x + std::min(gap, region.width - plot.area.width);
  plot.area.y = region.y + std::max(0, region.height - gap - plot.area.height);
  return plot;
}

Status plot_histogram(const Execution &execution, const std::uint32_t *counts, int channels, int bins,
                      const HistogramPlot &plot, Primitive *primitives) {
  if (channels < 1 || channels > kMaxChannels || bins < 1 || bins > kMaxBins)
    return invalid_argument("a histogram of " + std::to_string(channels) + " channels of " +
                            std::to_string(bins) + " bins cannot be plotted");
  return run_on_backend(execution, CUDAVISION_BACKENDS(histogram::plot), counts, channels, bins, plot,
                        primitives);
}

}  // namespace cudavision
