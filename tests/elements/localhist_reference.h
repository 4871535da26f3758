// SPDX-License-Identifier: LGPL-2.1-or-later
// The expected results of cudalocalhist: the definition of local histograms, and its maps painted pixel by pixel.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/video_frame.h"
#include "tests/kernels/localhist_definition.h"

namespace cudavision::test {

// The luma of a part of the frame.
Picture luma_picture(const VideoFrame &frame, Part part = {});

// The reductions of all windows in row-major order: the dominant bin and its share, the entropy in bits, and
// the L1 distance to the shares of a model.
struct DefinedMap {
  int rows, cols;
  std::vector<std::uint16_t> argmax;
  std::vector<float> share, entropy, distance;
};
DefinedMap defined_map(const Picture &picture, const LocalHistParams &params,
                       const std::vector<double> &model = {});
// The model of a region: the share of each bin in the region's histogram.
std::vector<double> defined_model(const Picture &picture, const LocalHistParams &params, Region region);

// The frame with the painted map of a part: the dominant bins as hues, and their shares as brightness.
VideoFrame with_hues(VideoFrame frame, const LocalHistParams &params, Part part = {});
// The frame with numbers painted as heat, from black at `cold` to white at `hot`. Only for RGB and gray
// formats, because some of the colours would have to be rounded in YUV.
VideoFrame with_heat(VideoFrame frame, const LocalHistParams &params, const std::vector<float> &numbers,
                     float cold, float hot, Part part = {});

}  // namespace cudavision::test
