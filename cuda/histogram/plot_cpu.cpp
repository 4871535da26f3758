// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the plot.
#include <algorithm>

#include "cuda/histogram/plot_backends.h"
#include "cuda/histogram/plot_rules.h"

namespace cudavision::histogram {

Status plot_cpu(const Execution &, const std::uint32_t *counts, int channels, int bins,
                const HistogramPlot &plot, Primitive *primitives) {
  for (int channel = 0; channel < channels; ++channel) {
    const std::uint32_t *channel_counts = counts + channel * bins;
    const std::uint32_t largest = *std::max_element(channel_counts, channel_counts + bins);
    for (int i = 0; i < 2 + bins; ++i)
      *primitives++ =
          plot_primitive(plot, channel, channels, bins, i, i < 2 ? 0 : channel_counts[i - 2], largest);
  }
  return {};
}

}  // namespace cudavision::histogram
