// SPDX-License-Identifier: LGPL-2.1-or-later
// The expected results of cudaopticalflow: the flow of the CPU backend, and the picture with its display.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/opticalflow/opticalflow.h"
#include "tests/elements/canny_reference.h"
#include "tests/elements/tensor.h"
#include "tests/elements/video_frame.h"

namespace cudavision::test {

struct ExpectedFlow {
  Size size;
  int stride = 1;
  std::vector<float> xy;  // [rows][cols][2]
  std::vector<std::uint8_t> valid;
};
ExpectedFlow flow_between(const VideoFrame &first, const VideoFrame &second,
                          const OpticalFlowParams &params = {}, Part part = {});

// The frame with the flow displayed by display-mode=wheel or by display-mode=arrows.
VideoFrame with_wheel(VideoFrame frame, const ExpectedFlow &flow, double max_speed = 8, Part part = {});
VideoFrame with_arrows(VideoFrame frame, const ExpectedFlow &flow, std::uint32_t argb = 0xff00ff00,
                       float scale = 4, int line_width = 1, Part part = {});

// Expects that the buffer has both tensors of the flow and no other.
void expect_flow(const Owned<GstBuffer> &buffer, const ExpectedFlow &flow);
// Expects that the buffer has no tensor, and the same bytes as the frame.
void expect_untouched(const Owned<GstBuffer> &buffer, const VideoFrame &frame);

// Frame i of a stream whose picture moves from frame to frame, 3 pixels to the right and 1 pixel down; each
// frame has some noise of its own.
VideoFrame moving_frame(const std::string &format, Size size, int i, Layout layout = Layout::of_the_caps);

}  // namespace cudavision::test
