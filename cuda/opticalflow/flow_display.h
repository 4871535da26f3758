// SPDX-License-Identifier: LGPL-2.1-or-later
// Display of optical flow, computed where the vectors lie: as colours that replace the picture, or as arrows
// on it.
#pragma once

#include <cstdint>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/host_device.h"
#include "cuda/draw/canvas.h"
#include "cuda/opticalflow/opticalflow.h"

namespace cudavision {

// The flow of a region of a frame: vector (i, j) belongs to pixel (stride i, stride j) of the region. vectors
// and valid have the size flow_size(size of the region, stride).
struct FlowOnFrame {
  ImageView<const FlowVector> vectors;  // finite
  ImageView<const std::uint8_t> valid;  // 0: the vector is invalid
  int stride = 1;
  Region region;  // lies within the frame
};

// The colour wheel: hue is direction and saturation is speed. Motion to the right is red; down, left and up
// follow a quarter of the wheel each: yellow-green, cyan and violet. All colours are opaque, in the
// components of the frame.
struct FlowWheel {
  Color corners[6];      // red, yellow, green, cyan, blue, magenta
  Color still, invalid;  // white, and black
  float max_speed = 8;   // the speed of full saturation in pixels per frame; greater than 0
};

// Paints every pixel of the region with the colour of its vector. A chroma sample that several pixels share
// takes the colour of the first of them in the region. Alpha, padding and the rest of the frame are not
// changed. All images are in the backend's memory. Both backends write the same bytes. Returns an error if
// the sizes do not match, if the region does not lie within the frame, or if max_speed is out of range. CUDA:
// enqueues one kernel.
Status draw_flow_wheel(const Execution &execution, const Frame &frame, const FlowOnFrame &flow,
                       const FlowWheel &wheel);

struct FlowArrows {
  float scale = 4;  // length of an arrow in pixels for a motion of one pixel
  int line_width = 1;
  Color color;
};

// Pixels from one arrow to the next in x and y. The first arrow starts at half of that.
constexpr int kArrowSpacing = 16;
// The numbers of arrows of a region in x and y.
CUDAVISION_HOST_DEVICE constexpr Size arrow_grid(Size region) {
  return {(region.width + kArrowSpacing / 2 - 1) / kArrowSpacing,
          (region.height + kArrowSpacing / 2 - 1) / kArrowSpacing};
}
// The lines, and primitives, of one arrow.
constexpr int kArrowLines = 3;
constexpr int arrow_line_count(Size region) {
  return kArrowLines * arrow_grid(region).width * arrow_grid(region).height;
}

// Writes arrow_line_count() primitives, in the backend's memory: the arrows from their pixels along the
// scaled vectors. The ends of all lines stay within the region. A vector that is invalid or shorter than half
// a pixel gets hidden primitives. Returns an error if the sizes of vectors and valid do not match the region.
// CUDA: enqueues at most one kernel.
Status make_flow_arrows(const Execution &execution, const FlowOnFrame &flow, const FlowArrows &arrows,
                        Primitive *primitives);

}  // namespace cudavision
