// SPDX-License-Identifier: LGPL-2.1-or-later
// The colour of a pixel and the lines of an arrow, computed by both backends.
#pragma once

#include <cmath>

#include "cuda/common/chroma.h"
#include "cuda/draw/canvas_rules.h"
#include "cuda/opticalflow/flow_display.h"

namespace cudavision::opticalflow {

// The direction of a vector in sixths of a turn, in [0, 6): 0 is right, 1.5 down. The error is at most 1e-5 (arctangent
// series of Abramowitz and Stegun, equation 4.4.47); atan2 is not used because its rounding differs between platforms.
// approximate_turn (cuda/gradient/orientation_rules.h) evaluates the same series with coefficients that are divided by
// 2 pi beforehand. The two functions round differently, and results depend on both roundings, so they are not merged.
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

// Returns the vector, or zero if no video can have it (infinite, NaN or huge), but another program has attached it.
CUDAVISION_HOST_DEVICE inline FlowVector sensible(FlowVector d) {
  // The squares of smaller numbers are finite.
  constexpr float kMost = 1e18f;
  return fabsf(d.x) < kMost && fabsf(d.y) < kMost ? d : FlowVector{0, 0};  // false for NaN
}

CUDAVISION_HOST_DEVICE inline float mix(float from, float to, float share) {
  return from + (to - from) * share;
}

// The place of a vector on the wheel, and the components of its colour.
struct WheelColor {
  int sector;              // which of the six sectors between two corners
  float part, saturation;  // part: the position within the sector; both are 0 to 1

  CUDAVISION_HOST_DEVICE WheelColor(FlowVector d, float max_speed) {
    const float hue = hue_of(d), speed = sqrtf(d.x * d.x + d.y * d.y);
    sector = static_cast<int>(hue);
    part = hue - static_cast<float>(sector);
    saturation = speed < max_speed ? speed / max_speed : 1.0f;
  }
  CUDAVISION_HOST_DEVICE float pure(const Color *corners, int i) const {
    return mix(corners[sector].component[i], corners[(sector + 1) % 6].component[i], part);
  }
  CUDAVISION_HOST_DEVICE std::uint8_t component(const FlowWheel &wheel, int i, float dimmed) const {
    return static_cast<std::uint8_t>(mix(dimmed, pure(wheel.corners, i), saturation) + 0.5f);
  }
};

// Whether a pixel lies on the legend's wheel or its ring, and the vector whose colour it shows on the wheel.
struct LegendPixel {
  bool on_wheel, on_ring;
  FlowVector vector;

  // x and y: pixels of the region.
  CUDAVISION_HOST_DEVICE LegendPixel(const FlowWheel &wheel, int x, int y) {
    const int radius = wheel.legend_radius, margin = 1 + radius / 4, ring = 1 + radius / 24;
    const int dx = x - margin - radius, dy = y - margin - radius;
    // Far pixels are excluded before their squares overflow.
    const bool near = radius > 0 && dx <= radius + ring && dy <= radius + ring;
    const int square = near ? dx * dx + dy * dy : 0;
    on_wheel = near && square <= radius * radius;
    on_ring = near && !on_wheel && square <= (radius + ring) * (radius + ring);
    const float scale = radius > 0 ? wheel.max_speed / static_cast<float>(radius) : 0.0f;
    vector = {static_cast<float>(dx) * scale, static_cast<float>(dy) * scale};
  }
};

// Writes components [first, last) of pixel (x, y) of the frame, which must lie in the region.
CUDAVISION_HOST_DEVICE inline void paint_components(const Frame &frame, const FlowOnFrame &flow,
                                                    const FlowWheel &wheel, int x, int y, int first,
                                                    int last) {
  const LegendPixel legend(wheel, x - flow.region.x, y - flow.region.y);
  const int column = (x - flow.region.x) / flow.stride, row = (y - flow.region.y) / flow.stride;
  const bool valid = legend.on_wheel || flow.valid.row(row)[column] != 0;
  const WheelColor color(legend.on_wheel ? legend.vector
                         : valid         ? sensible(flow.vectors.row(row)[column])
                                         : FlowVector{0, 0},
                         wheel.max_speed);
  for (int i = first; i < last; ++i) {
    std::uint8_t &sample = frame.component[i].at(x, y);
    const float dimmed = mix(wheel.black.component[i], sample, valid ? 0.5f : 0.25f);
    sample = legend.on_ring ? wheel.ring.component[i] : color.component(wheel, i, dimmed);
  }
}

// The numbers of chroma cells (cuda/common/chroma.h), in x and y, that the region touches.
CUDAVISION_HOST_DEVICE inline Size wheel_cells(const Frame &frame, Region region) {
  const int sx = cell_shift_x(frame), sy = cell_shift_y(frame);
  return {((region.x + region.width - 1) >> sx) - (region.x >> sx) + 1,
          ((region.y + region.height - 1) >> sy) - (region.y >> sy) + 1};
}

// Paints the pixels of the region that lie in one chroma cell. Cell (0, 0) is the first one that the region touches.
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

// Rounds the coordinate of an end of a line and clamps it so that the line, with its width, stays in the region.
CUDAVISION_HOST_DEVICE inline int end_within(float at, int first, int count, int line_width) {
  const float least = static_cast<float>(first + (line_width - 1) / 2),
              most = static_cast<float>(first + count - 1 - line_width / 2);
  const float rounded = floorf(at + 0.5f);
  return static_cast<int>(rounded < least ? least : rounded > most ? most : rounded);
}

// The mean of the valid ones among up to 8x8 vectors of a cell, or zero if less than half of them are valid.
CUDAVISION_HOST_DEVICE inline FlowVector mean_of_cell(const FlowOnFrame &flow, int spacing, int column,
                                                      int row) {
  FlowVector sum{0, 0};
  int seen = 0, valid = 0;
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 8; ++i) {
      const int x = column * spacing + (2 * i + 1) * spacing / 16,
                y = row * spacing + (2 * j + 1) * spacing / 16;
      if (x >= flow.region.width || y >= flow.region.height) continue;
      ++seen;
      if (flow.valid.row(y / flow.stride)[x / flow.stride] == 0) continue;
      const FlowVector d = sensible(flow.vectors.row(y / flow.stride)[x / flow.stride]);
      ++valid;
      sum.x += d.x, sum.y += d.y;
    }
  if (2 * valid < seen || valid == 0) return {0, 0};
  return {sum.x / static_cast<float>(valid), sum.y / static_cast<float>(valid)};
}

// One line of arrow (column, row): 0 is the shaft; 1 and 2 are the barbs, a third as long and 27 degrees off the shaft.
CUDAVISION_HOST_DEVICE inline Primitive arrow_line(const FlowOnFrame &flow, const FlowArrows &arrows,
                                                   int column, int row, int line) {
  const Region &r = flow.region;
  const int spacing = arrow_spacing({r.width, r.height});
  const int x = spacing / 2 + column * spacing, y = spacing / 2 + row * spacing;
  const FlowVector d = mean_of_cell(flow, spacing, column, row);
  const bool fits = r.width >= arrows.line_width && r.height >= arrows.line_width;
  const float speed = sqrtf(d.x * d.x + d.y * d.y);
  if (!fits || !(speed >= 0.5f)) return hidden_primitive(arrows.colors[0]);
  // An arrow is at most as long as a cell, so that it does not reach the start of the next one.
  const float longest = static_cast<float>(spacing) / speed,
              scale = arrows.scale < longest ? arrows.scale : longest;
  const float vx = d.x * scale, vy = d.y * scale;
  const WheelColor hue(d, 1.0f);
  Color color{{}, arrows.colors[0].alpha};
  for (int i = 0; i < 3; ++i)
    color.component[i] = static_cast<std::uint8_t>(hue.pure(arrows.colors, i) + 0.5f);
  const float x0 = static_cast<float>(r.x + x), y0 = static_cast<float>(r.y + y), x1 = x0 + vx, y1 = y0 + vy;
  const float side = line == 1 ? 0.5f : -0.5f;
  const float from_x = line == 0 ? x0 : x1 - 0.3f * (vx - side * vy),
              from_y = line == 0 ? y0 : y1 - 0.3f * (vy + side * vx);
  const int width = arrows.line_width;
  return make_primitive(Primitive::Kind::line, width, color, end_within(from_x, r.x, r.width, width),
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
