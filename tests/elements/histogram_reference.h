// SPDX-License-Identifier: LGPL-2.1-or-later
// The expected results of cudahistogram: the counts of cv::calcHist, and the plot, drawn by the CPU backend.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/video_frame.h"

namespace cudavision::test {

// The properties of the element, with their defaults.
struct HistogramCase {
  bool channels = false;
  int bins = 256, range_min = 0, range_max = 256;
};

// Counts [channels][bins] of the luma, or of each component. A sample of a subsampled component is counted
// once if it belongs to any pixel of the part.
std::vector<std::uint32_t> opencv_counts(const VideoFrame &frame, const HistogramCase &histogram = {},
                                         Part part = {});
// The frame with its histogram plotted in the part.
VideoFrame with_plot(VideoFrame frame, const HistogramCase &histogram = {}, Part part = {});
// The area of that plot in the frame.
Part plot_of(const VideoFrame &frame, const HistogramCase &histogram = {}, Part part = {});

}  // namespace cudavision::test
