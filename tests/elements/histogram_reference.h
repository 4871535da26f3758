// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudahistogram must give: cv::calcHist, and its plot drawn by the rooms' CPU backend.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/video_frame.h"

namespace cudavision::test {

struct HistogramCase {  // the defaults of the element
  bool channels = false;
  int bins = 256, range_min = 0, range_max = 256;
};

// [channels][bins]: of the luma, or of each component; of a subsampled component the samples that a pixel of
// the part belongs to.
std::vector<std::uint32_t> opencv_counts(const VideoFrame &frame, const HistogramCase &histogram = {},
                                         Part part = {});
// The frame with its histogram plotted on the part.
VideoFrame with_plot(VideoFrame frame, const HistogramCase &histogram = {}, Part part = {});
// Where on the frame that plot is.
Part plot_of(const VideoFrame &frame, const HistogramCase &histogram = {}, Part part = {});

}  // namespace cudavision::test
