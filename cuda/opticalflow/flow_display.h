// SPDX-License-Identifier: LGPL-2.1-or-later
// Optical flow made visible, where the vectors lie: as colours in place of the picture, or as arrows to draw
// on it.
#pragma once

#include <cstdint>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/host_device.h"
#include "cuda/draw/canvas.h"
#include "cuda/opticalflow/opticalflow.h"

namespace cudavision {

// A field of vectors over a region of a frame: vector (i, j) belongs to pixel (stride i, stride j) of the
// region.
struct FlowOnFrame {
  ImageView<const FlowVector> vectors;  // finite
  ImageView<const std::uint8_t> valid;  // 0: the vector means nothing
  int stride = 1;
  Region region;  // within the frame; vectors and valid are flow_size() of its size
};

// Hue is direction, saturation is speed: a right-moving pixel is red, and down, left and up follow a quarter
// of the wheel each, by yellow-green, cyan and violet.
struct FlowWheel {
  Color corners[6];      // red, yellow, green, cyan, blue, magenta
  Color still, invalid;  // white and black, all in the frame's components and opaque
  float max_speed = 8;   // pixels a frame that make a colour full: more than 0
};

// Every pixel of the region takes the colour of its vector, and of several that share a chroma sample the
// first one's colour is that of the sample. Alpha, padding and the rest of the frame stay. All in the
// backend's memory. Both backends write the same bytes. CUDA: enqueues one kernel.
Status draw_flow_wheel(const Execution &execution, const Frame &frame, const FlowOnFrame &flow,
                       const FlowWheel &wheel);

struct FlowArrows {
  float scale = 4;  // pixels of an arrow for each pixel of motion
  int line_width = 1;
  Color color;
};

constexpr int kArrowSpacing =
    16;  // pixels from one arrow to the next, in x and y; the first begins half of that in
// How many arrows a region has in x and in y; an arrow is kArrowLines primitives.
CUDAVISION_HOST_DEVICE constexpr Size arrow_grid(Size region) {
  return {(region.width + kArrowSpacing / 2 - 1) / kArrowSpacing,
          (region.height + kArrowSpacing / 2 - 1) / kArrowSpacing};
}
constexpr int kArrowLines = 3;
constexpr int arrow_line_count(Size region) {
  return kArrowLines * arrow_grid(region).width * arrow_grid(region).height;
}

// primitives: arrow_line_count() of them, in the backend's memory, become the arrows from pixels to where
// they come to be, scaled. Their ends stay within the region. What is not valid, or moves less than half a
// pixel, has no arrow. CUDA: enqueues one kernel.
Status make_flow_arrows(const Execution &execution, const FlowOnFrame &flow, const FlowArrows &arrows,
                        Primitive *primitives);

}  // namespace cudavision
