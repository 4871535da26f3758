// SPDX-License-Identifier: LGPL-2.1-or-later
// The axes of a histogram's plot: the range of the values, the names of the channels, and ticks.
#pragma once

#include <vector>

#include "cuda/histogram/plot.h"

namespace cudavision {

// names: a letter for each channel. The first and the last value of the range stand at the upper corners of
// each panel, its name beside the first, and three ticks at its lower border divide the range into quarters.
// Empty if the panels are too small for the text.
std::vector<Primitive> plot_labels(const HistogramPlot &plot, int channels, const char *names,
                                   const HistogramParams &params);

}  // namespace cudavision
