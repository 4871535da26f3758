// SPDX-License-Identifier: LGPL-2.1-or-later
// Display of optical flow, computed where the vectors are stored: as colours on the dimmed picture, or as arrows on it.
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
  ImageView<const FlowVector> vectors;  // those that are not finite count as no motion
  ImageView<const std::uint8_t> valid;  // 0: the vector is invalid
  int stride = 1;
  Region region;  // lies within the frame
};

// The colour wheel: the hue shows the direction, the opacity of the colour shows the speed. Motion to the right is red;
// down, left and up follow a quarter of the wheel each: yellow-green, cyan and violet. All colours are in the
// components of the frame.
struct FlowWheel {
  Color corners[6];     // red, yellow, green, cyan, blue, magenta
  Color black, ring;    // black, and the colour of the legend's ring
  float max_speed = 8;  // the speed of the full colour in pixels per frame; greater than 0
  // The legend is a wheel in the top left corner of the region: each of its pixels has the colour of the
  // vector from the centre to the pixel, and its edge stands for max_speed. In pixels; 0 draws none.
  int legend_radius = 0;
};

// The radius of a legend that suits the region; 0 if the region is too small for one.
constexpr int legend_radius_for(Size region) {
  const int side = region.width < region.height ? region.width : region.height;
  return side < 120 ? 0 : side / 14;
}

// Dims the picture in the region to half of its brightness, or to a quarter where the vector is invalid, and blends the
// colour of its vector over every pixel: a vector of max_speed replaces the picture, and zero leaves the dimmed
// picture. A chroma sample that several pixels share takes the colour of the first of them in the region. Alpha,
// padding and the rest of the frame are not changed. All images are in the backend's memory. Both backends write the
// same bytes. Returns an error if the sizes do not match, if the region does not lie within the frame, or if max_speed
// or legend_radius is out of range. CUDA: enqueues one kernel.
Status draw_flow_wheel(const Execution &execution, const Frame &frame, const FlowOnFrame &flow,
                       const FlowWheel &wheel);

struct FlowArrows {
  float scale = 4;  // length of an arrow in pixels for a motion of one pixel
  int line_width = 1;
  // The colours of the directions, as FlowWheel::corners. All six are equal for arrows of one colour.
  Color colors[6] = {};
};

// The side in pixels of square cells, each of which has one arrow; also the greatest length of an arrow. The first
// arrow starts at the middle of the first cell.
CUDAVISION_HOST_DEVICE constexpr int arrow_spacing(Size region) {
  const int side = region.width < region.height ? region.width : region.height;
  return side < 16 * 32 ? 16 : side / 32;
}
// The numbers of arrows of a region in x and y.
CUDAVISION_HOST_DEVICE constexpr Size arrow_grid(Size region) {
  const int spacing = arrow_spacing(region);
  return {(region.width + spacing / 2 - 1) / spacing, (region.height + spacing / 2 - 1) / spacing};
}
// An arrow consists of this many lines, each of which is a primitive.
constexpr int kArrowLines = 3;
constexpr int arrow_line_count(Size region) {
  return kArrowLines * arrow_grid(region).width * arrow_grid(region).height;
}

// Writes arrow_line_count() primitives, in the backend's memory: from the centre of each cell, an arrow along the
// scaled mean of its valid vectors, of which up to 8x8, evenly spread, are read. All lines end within the region. A
// cell gets hidden primitives if less than half of these vectors are valid, or if their mean is shorter than half a
// pixel. Returns an error if the sizes of vectors and valid do not match the region. CUDA: enqueues at most one kernel.
Status make_flow_arrows(const Execution &execution, const FlowOnFrame &flow, const FlowArrows &arrows,
                        Primitive *primitives);

}  // namespace cudavision
