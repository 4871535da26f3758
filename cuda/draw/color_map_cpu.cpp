// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of painting maps: bands of rows in parallel.
#include <algorithm>

#include "cuda/common/chroma.h"
#include "cuda/draw/color_map_backends.h"
#include "cuda/draw/color_map_rules.h"

namespace cudavision::draw {
namespace {

constexpr int kBandRows = 16;  // even, so that no chroma sample belongs to two bands

}  // namespace

Status paint_color_map_cpu(const Execution &execution, const Frame &frame, const MapElements &elements,
                           const MapPlace &place, const ColorMap &map) {
  const Span span = painted_span(elements, place);
  const int shift_x = cell_shift_x(frame), shift_y = cell_shift_y(frame);
  const int first_x = span.x0 >> shift_x << shift_x, first_y = span.y0 >> shift_y << shift_y;
  execution.workers->run(divide_up(span.y1 - first_y, kBandRows), [&](int band, int) {
    const int begin = first_y + band * kBandRows, end = std::min(span.y1, begin + kBandRows);
    for (int y = begin; y < end; y += 1 << shift_y)
      for (int x = first_x; x < span.x1; x += 1 << shift_x)
        paint_cell(frame, elements, place, map, span, x, y);
  });
  return {};
}

}  // namespace cudavision::draw
