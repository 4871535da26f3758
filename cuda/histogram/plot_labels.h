// SPDX-License-Identifier: LGPL-2.1-or-later
// The axes of a histogram's plot: the range of the values, the names of the channels, and ticks.
#pragma once

#include <vector>

#include "cuda/histogram/plot.h"

namespace cudavision {

// Returns the axes of all panels. names: one letter per channel. Each panel shows the first and the last value of the
// range in its upper corners, the channel's name beside the first value, and three ticks at its lower border, which
// divide the range into quarters. Returns an empty list if the panels are too small for the text.
std::vector<Primitive> plot_labels(const HistogramPlot &plot, int channels, const char *names,
                                   const HistogramParams &params);

}  // namespace cudavision
