// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of painting maps: bands of rows in parallel.
#include <algorithm>

#include "cuda/common/chroma.h"
#include "cuda/draw/color_map_rules.h"
#include "cuda/draw/draw_backends.h"

namespace cudavision::draw {
namespace {

constexpr int kBandRows = 16;

// Paints the pixels of one row as paint_cell() (color_map_rules.h) does, but computes each element's colour only once.
void paint_row(const Frame &frame, const MapElements &elements, const MapPlace &place, const ColorMap &map,
               Span span, int y) {
  const int last_x = (1 << cell_shift_x(frame)) - 1, last_y = (1 << cell_shift_y(frame)) - 1;
  const bool yuv = frame.model == ColorModel::yuv, has_chroma = yuv && (y == span.y0 || (y & last_y) == 0);
  const int opaque = yuv ? 1 : frame.component_count();
  long long element = static_cast<long long>((y - place.y) / place.step_y) * elements.cols +
                      (span.x0 - place.x) / place.step_x;
  int next = span.x0 - (span.x0 - place.x) % place.step_x;  // the first pixel of the next element
  Color color;
  for (int x = span.x0; x < span.x1; ++x) {
    if (x >= next) {
      color = color_of_element(elements, map, element++);
      next += place.step_x;
    }
    for (int c = 0; c < opaque; ++c) frame.component[c].at(x, y) = color.component[c];
    if (has_chroma && (x == span.x0 || (x & last_x) == 0))
      for (int c = 1; c < 3; ++c) frame.component[c].at(x, y) = color.component[c];
  }
}

}  // namespace

Status paint_color_map_cpu(const Execution &execution, const Frame &frame, const MapElements &elements,
                           const MapPlace &place, const ColorMap &map) {
  const Span span = painted_span(elements, place);
  return execution.workers->run_rows(span.y1 - span.y0, kBandRows, [&](int y, int) {
    paint_row(frame, elements, place, map, span, span.y0 + y);
  });
}

}  // namespace cudavision::draw
