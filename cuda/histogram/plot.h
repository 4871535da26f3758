// SPDX-License-Identifier: LGPL-2.1-or-later
// The plot of a histogram as primitives, made where the counts are: nothing goes through the host.
#pragma once

#include <cstdint>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/draw/canvas.h"
#include "cuda/histogram/histogram.h"

namespace cudavision {

// Where and in which colours. One panel for each channel, below one another.
struct HistogramPlot {
  Region area;  // of the frame, in pixels; a panel that finds no pixel in it is not drawn
  int line_width = 1;
  Color background, outline, bars[kMaxChannels];
};

// The plot in the lower left of a region: about two fifths of its width and a third of its height, at least
// 256 x 48 pixels a panel where the region has them, so that it can be read at 320x240 and at 3840x2160
// alike.
HistogramPlot place_plot(Region region, int channels);

// A panel, its outline, and its bars.
constexpr int plot_size(int channels, int bins) { return channels * (2 + bins); }

// counts: [channels][bins]; primitives: plot_size(channels, bins) of them; both in the backend's memory.
// Within a channel the bar of count c is ceil(c * height / largest count) pixels high: the largest fills the
// panel, and what is not empty can be seen. CUDA: enqueues one kernel.
Status plot_histogram(const Execution &execution, const std::uint32_t *counts, int channels, int bins,
                      const HistogramPlot &plot, Primitive *primitives);

}  // namespace cudavision
