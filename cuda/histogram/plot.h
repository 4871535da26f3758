// SPDX-License-Identifier: LGPL-2.1-or-later
// The plot of a histogram as a list of primitives, made in the backend's memory without a copy of counts to the host.
#pragma once

#include <cstdint>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/draw/canvas.h"
#include "cuda/histogram/histogram.h"

namespace cudavision {

// The place and the colours of a plot: one panel per channel, stacked vertically.
struct HistogramPlot {
  Region area;  // in pixels of the frame; a panel whose share of the area is empty is not drawn
  int line_width = 1;
  Color background, outline, bars[kMaxChannels];
};

// Places the plot at the lower left of a region. It takes about two fifths of the region's width and one
// third of its height, but at least 256 x 48 pixels per panel if the region is large enough, so that it is
// legible at 320x240 as well as at 3840x2160.
HistogramPlot place_plot(Region region, int channels);

// The number of primitives: for each channel a panel, its outline, and one bar per bin.
constexpr int plot_size(int channels, int bins) { return channels * (2 + bins); }

// Writes the plot of counts[channels][bins] to primitives[plot_size(channels, bins)]; both arrays are in the
// backend's memory. The bar of a count c is ceil(c * height / largest count of the channel) pixels high: the
// largest count fills the panel, and every nonempty bin is visible. Fails if channels is not in 1 to
// kMaxChannels or bins is not in 1 to kMaxBins. CUDA: enqueues one kernel.
Status plot_histogram(const Execution &execution, const std::uint32_t *counts, int channels, int bins,
                      const HistogramPlot &plot, Primitive *primitives);

}  // namespace cudavision
