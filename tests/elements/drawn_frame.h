// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames with primitives drawn on them by the CPU backend of the canvas, which has its own tests.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/draw/canvas.h"
#include "tests/elements/canny_reference.h"
#include "tests/elements/video_frame.h"

namespace cudavision::test {

// The frame as the algorithms see it.
Frame view_of(VideoFrame *frame);
// The part, or the whole frame if the width of the part is 0.
Region region_of(const VideoFrame &frame, Part part);
// Converts a colour 0xAARRGGBB to the components of the frame.
Color color_in(const VideoFrame &frame, std::uint32_t argb);
// Draws the primitives, clipped to the part, or to the frame if the width of the part is 0.
VideoFrame with_primitives(VideoFrame frame, const std::vector<Primitive> &primitives, Part part = {});

}  // namespace cudavision::test
