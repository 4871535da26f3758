// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudalocalhist must give: the definition of local histograms, and its maps painted pixel by pixel.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/video_frame.h"
#include "tests/kernels/localhist_definition.h"

namespace cudavision::test {

// The luma of the part, as a picture of its own.
Picture luma_picture(const VideoFrame &frame, Part part = {});

// Of each window, row by row: the dominant bin and its share, the entropy in bits, and the L1 distance to
// shares.
struct DefinedMap {
  int rows, cols;
  std::vector<std::uint16_t> argmax;
  std::vector<float> share, entropy, distance;
};
DefinedMap defined_map(const Picture &picture, const LocalHistogramParams &params,
                       const std::vector<double> &model = {});
// The shares of a region's histogram.
std::vector<double> defined_model(const Picture &picture, const LocalHistogramParams &params, Region region);

// The frame after the map of its part was painted: the dominant bins as hues, their shares as brightness.
VideoFrame with_hues(VideoFrame frame, const LocalHistogramParams &params, Part part = {});
// Or numbers of the map as heat, from black at `cold` to white at `hot`. Of RGB and gray alone: some of its
// colours lie between two of YUV's.
VideoFrame with_heat(VideoFrame frame, const LocalHistogramParams &params, const std::vector<float> &numbers,
                     float cold, float hot, Part part = {});

}  // namespace cudavision::test
