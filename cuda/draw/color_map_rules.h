// SPDX-License-Identifier: LGPL-2.1-or-later
// The colour of each pixel of a map, for both backends. All arithmetic after quantize() is in integers.
#pragma once

#include "cuda/common/chroma.h"
#include "cuda/draw/canvas_rules.h"
#include "cuda/draw/color_map.h"
#include "cuda/draw/draw_rules.h"

namespace cudavision::draw {

// Maps value from [0, 1] to an integer in [0, most], rounded half up. Values outside are clamped; NaN gives 0.
CUDAVISION_HOST_DEVICE inline int quantize(float value, int most) {
  return value >= 1 ? most : value > 0 ? static_cast<int>(value * static_cast<float>(most) + 0.5f) : 0;
}

CUDAVISION_HOST_DEVICE inline Color color_of_element(const MapElements &elements, const ColorMap &map,
                                                     long long i) {
  const float value = elements.values[i];
  if (elements.indices == nullptr)
    return map.colors[quantize((value - elements.low) / (elements.high - elements.low), map.count - 1)];
  const Color color = map.colors[elements.indices[i]];
  const auto alpha = static_cast<std::uint8_t>(quantize(value, 255));
  Color mixed;
  for (int c = 0; c < 3; ++c) mixed.component[c] = blend(color.component[c], alpha, map.dark.component[c]);
  return mixed;
}

// The pixels that are painted.
CUDAVISION_HOST_DEVICE inline Span painted_span(const MapElements &elements, const MapPlace &place) {
  const Region r = place.clip;
  return clip(
      {place.x, place.y, place.x + elements.cols * place.step_x, place.y + elements.rows * place.step_y},
      {r.x, r.y, r.x + r.width, r.y + r.height});
}

// Paints the pixels of the cell (chroma.h) whose first pixel is (x, y), as far as they lie in span.
CUDAVISION_HOST_DEVICE inline void paint_cell(const Frame &frame, const MapElements &elements,
                                              const MapPlace &place, const ColorMap &map, Span span, int x,
                                              int y) {
  const Span cell = clip({x, y, x + (1 << cell_shift_x(frame)), y + (1 << cell_shift_y(frame))}, span);
  for (int py = cell.y0; py < cell.y1; ++py)
    for (int px = cell.x0; px < cell.x1; ++px) {
      const int row = (py - place.y) / place.step_y, col = (px - place.x) / place.step_x;
      const Color color = color_of_element(elements, map, static_cast<long long>(row) * elements.cols + col);
      const bool is_first = px == cell.x0 && py == cell.y0;
      for (int c = 0; c < frame.component_count(); ++c)
        if (is_first || !is_chroma(frame, c)) frame.component[c].at(px, py) = color.component[c];
    }
}

}  // namespace cudavision::draw
