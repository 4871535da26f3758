// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudaopticalflow must give: the flow by the room's CPU backend, and what becomes of the picture.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/tensor.h"
#include "tests/elements/video_frame.h"
#include "cuda/opticalflow/opticalflow.h"

namespace cudavision::test {

struct ExpectedFlow {
  Size size;
  int stride = 1;
  std::vector<float> xy;  // [rows][cols][2]
  std::vector<std::uint8_t> valid;
};
ExpectedFlow flow_between(const VideoFrame &first, const VideoFrame &second,
                          const OpticalFlowParams &params = {}, Part part = {});

// The frame after display-mode=wheel and after display-mode=arrows.
VideoFrame with_wheel(VideoFrame frame, const ExpectedFlow &flow, double max_speed = 8, Part part = {});
VideoFrame with_arrows(VideoFrame frame, const ExpectedFlow &flow, std::uint32_t argb = 0xff00ff00,
                       float scale = 4, int line_width = 1, Part part = {});

// Expects both tensors on the buffer, and no other.
void expect_flow(const Owned<GstBuffer> &buffer, const ExpectedFlow &flow);
// Expects that the buffer has no tensor and the bytes of the frame.
void expect_untouched(const Owned<GstBuffer> &buffer, const VideoFrame &frame);

// Frame i of a stream whose picture moves: right by 3 and down by 1 pixels from each to the next, on ground of its own.
VideoFrame moving_frame(const std::string &format, Size size, int i, Layout layout = Layout::of_the_caps);

}  // namespace cudavision::test
