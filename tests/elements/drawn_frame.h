// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames on which primitives are drawn, by the canvas' CPU backend, which has tests of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/draw/canvas.h"
#include "tests/elements/canny_reference.h"
#include "tests/elements/video_frame.h"

namespace cudavision::test {

// The frame as the rooms see it.
Frame view_of(VideoFrame *frame);
// The part, or the whole frame where it has no width.
Region region_of(const VideoFrame &frame, Part part);
// 0xAARRGGBB in the components of the frame.
Color color_in(const VideoFrame &frame, std::uint32_t argb);
// Clipped to the part.
VideoFrame with_primitives(VideoFrame frame, const std::vector<Primitive> &primitives, Part part = {});

}  // namespace cudavision::test
