// SPDX-License-Identifier: LGPL-2.1-or-later
// The colour of a pixel and the lines of an arrow, computed by both backends.
#pragma once

#include <cmath>

#include "cuda/common/chroma.h"
#include "cuda/draw/canvas_rules.h"
#include "cuda/opticalflow/flow_display.h"

namespace cudavision::opticalflow {

// The direction of a vector in sixths of a turn, in [0, 6): 0 is right, 1.5 down. The error is at most 1e-5
// (arctangent series of Abramowitz and Stegun, equation 4.4.47); atan2 is not used because its rounding
// differs between platforms. approximate_turn (cuda/gradient/orientation.h) evaluates the same series with
// coefficients that are divided by 2 pi beforehand: both round differently, and results depend on each, so
// they stay apart.
CUDAVISION_HOST_DEVICE inline float hue_of(FlowVector d) {
  const float x = fabsf(d.x), y = fabsf(d.y), larger = x > y ? x : y, smaller = x > y ? y : x;
  const float z = larger > 0 ? smaller / larger : 0.0f, z2 = z * z;
  const float series =
      0.9998660f + z2 * (-0.3302995f + z2 * (0.1801410f + z2 * (-0.0851330f + z2 * 0.0208351f)));
  float hue = z * series * 0.95492966f;  // 6 / 2 pi
  if (y > x) hue = 1.5f - hue;
  if (d.x < 0) hue = 3.0f - hue;
  if (d.y < 0) hue = 6.0f - hue;
  return hue >= 6.0f ? 0.0f : hue;
}

CUDAVISION_HOST_DEVICE inline float mix(float from, float to, float share) {
  return from + (to - from) * share;
}

// The place of a vector on the wheel, and the components of its colour.
struct WheelColor {
  int sector;              // of the six between two corners
  float part, saturation;  // the position within the sector; both 0 to 1

  CUDAVISION_HOST_DEVICE WheelColor(FlowVector d, float max_speed) {
    const float hue = hue_of(d), speed = sqrtf(d.x * d.x + d.y * d.y);
    sector = static_cast<int>(hue);
    part = hue - static_cast<float>(sector);
    saturation = speed < max_speed ? speed / max_speed : 1.0f;
  }
  CUDAVISION_HOST_DEVICE std::uint8_t component(const FlowWheel &wheel, int i) const {
    const float pure =
        mix(wheel.corners[sector].component[i], wheel.corners[(sector + 1) % 6].component[i], part);
    return static_cast<std::uint8_t>(mix(wheel.still.component[i], pure, saturation) + 0.5f);
  }
};

// Writes components [first, last) of pixel (x, y) of the frame, which must lie in the region.
CUDAVISION_HOST_DEVICE inline void paint_components(const Frame &frame, const FlowOnFrame &flow,
                                                    const FlowWheel &wheel, int x, int y, int first,
                                                    int last) {
  const int column = (x - flow.region.x) / flow.stride, row = (y - flow.region.y) / flow.stride;
  if (flow.valid.row(row)[column] == 0) {
    for (int i = first; i < last; ++i) frame.component[i].at(x, y) = wheel.invalid.component[i];
    return;
  }
  const WheelColor color(flow.vectors.row(row)[column], wheel.max_speed);
  for (int i = first; i < last; ++i) frame.component[i].at(x, y) = color.component(wheel, i);
}

// The numbers of chroma cells (cuda/common/chroma.h), in x and y, that the region touches.
CUDAVISION_HOST_DEVICE inline Size wheel_cells(const Frame &frame, Region region) {
  const int sx = cell_shift_x(frame), sy = cell_shift_y(frame);
  return {((region.x + region.width - 1) >> sx) - (region.x >> sx) + 1,
          ((region.y + region.height - 1) >> sy) - (region.y >> sy) + 1};
}

// Paints the pixels of the region that lie in one chroma cell. Cell (0, 0) is the first one that the region
// touches.
CUDAVISION_HOST_DEVICE inline void paint_cell(const Frame &frame, const FlowOnFrame &flow,
                                              const FlowWheel &wheel, int cell_x, int cell_y) {
  const Region &r = flow.region;
  const int sx = cell_shift_x(frame), sy = cell_shift_y(frame);
  const int x0 = ((r.x >> sx) + cell_x) << sx, y0 = ((r.y >> sy) + cell_y) << sy;
  const draw::Span inside =
      draw::clip({x0, y0, x0 + (1 << sx), y0 + (1 << sy)}, {r.x, r.y, r.x + r.width, r.y + r.height});
  const bool yuv = frame.model == ColorModel::yuv;
  for (int y = inside.y0; y < inside.y1; ++y)
    for (int x = inside.x0; x < inside.x1; ++x)
      paint_components(frame, flow, wheel, x, y, 0, yuv ? 1 : frame.component_count());
  if (yuv) paint_components(frame, flow, wheel, inside.x0, inside.y0, 1, 3);
}

// Rounds the coordinate of an end of a line and clamps it so that the line, with its width, stays in the
// region.
CUDAVISION_HOST_DEVICE inline int end_within(float at, int first, int count, int line_width) {
  const float least = static_cast<float>(first + (line_width - 1) / 2),
              most = static_cast<float>(first + count - 1 - line_width / 2);
  const float rounded = floorf(at + 0.5f);
  return static_cast<int>(rounded < least ? least : rounded > most ? most : rounded);
}

// One line of arrow (column, row): 0 is the shaft; 1 and 2 are the barbs, a third as long and 27 degrees off
// the shaft.
CUDAVISION_HOST_DEVICE inline Primitive arrow_line(const FlowOnFrame &flow, const FlowArrows &arrows,
                                                   int column, int row, int line) {
  const Region &r = flow.region;
  const int x = kArrowSpacing / 2 + column * kArrowSpacing, y = kArrowSpacing / 2 + row * kArrowSpacing;
  const FlowVector d = flow.vectors.row(y / flow.stride)[x / flow.stride];
  const bool fits = r.width >= arrows.line_width && r.height >= arrows.line_width;
  if (!fits || flow.valid.row(y / flow.stride)[x / flow.stride] == 0 || d.x * d.x + d.y * d.y < 0.25f)
    return hidden_primitive(arrows.color);
  const float vx = d.x * arrows.scale, vy = d.y * arrows.scale;
  const float x0 = static_cast<float>(r.x + x), y0 = static_cast<float>(r.y + y), x1 = x0 + vx, y1 = y0 + vy;
  const float side = line == 1 ? 0.5f : -0.5f;
  const float from_x = line == 0 ? x0 : x1 - 0.3f * (vx - side * vy),
              from_y = line == 0 ? y0 : y1 - 0.3f * (vy + side * vx);
  const int width = arrows.line_width;
  return make_primitive(Primitive::Kind::line, width, arrows.color, end_within(from_x, r.x, r.width, width),
                        end_within(from_y, r.y, r.height, width), end_within(x1, r.x, r.width, width),
                        end_within(y1, r.y, r.height, width));
}

// Primitive i of make_flow_arrows().
CUDAVISION_HOST_DEVICE inline Primitive arrow_primitive(const FlowOnFrame &flow, const FlowArrows &arrows,
                                                        int i) {
  const int columns = arrow_grid({flow.region.width, flow.region.height}).width, arrow = i / kArrowLines;
  return arrow_line(flow, arrows, arrow % columns, arrow / columns, i % kArrowLines);
}

}  // namespace cudavision::opticalflow
