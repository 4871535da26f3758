// SPDX-License-Identifier: LGPL-2.1-or-later
// Painting maps: checks, the CPU backend, and the choice of a backend.
#include "cuda/draw/color_map.h"

#include <algorithm>

#include "cuda/common/backends.h"
#include "cuda/draw/color_map_rules.h"

namespace cudavision {
namespace {

constexpr int kBandRows = 16;  // even, so that no chroma sample belongs to two bands

Status check(const Frame &frame, const MapElements &elements, const MapPlace &place, const ColorMap &map) {
  const Region r = place.clip;
  if (r.x < 0 || r.y < 0 || r.width < 1 || r.height < 1 || r.width > frame.width - r.x ||
      r.height > frame.height - r.y)
    return invalid_argument("the region to paint on leaves the frame");
  if (elements.rows < 1 || elements.cols < 1 || elements.values == nullptr || place.step_x < 1 ||
      place.step_y < 1)
    return invalid_argument("a map without elements cannot be painted");
  if (map.count < 1 || map.count > kMaxMapColors || elements.high == elements.low)
    return invalid_argument("a map cannot be painted without colours and a range");
  return {};
}

}  // namespace

Status draw::paint_color_map_cpu(const Execution &execution, const Frame &frame, const MapElements &elements,
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

Status paint_color_map(const Execution &execution, const Frame &frame, const MapElements &elements,
                       const MapPlace &place, const ColorMap &map) {
  CUDAVISION_TRY(check(frame, elements, place, map));
  const draw::Span span = draw::painted_span(elements, place);
  if (span.x0 >= span.x1 || span.y0 >= span.y1) return {};  // it lies beside the region
  return run_on_backend(execution, draw::paint_color_map_cpu, CUDAVISION_IF_CUDA(draw::paint_color_map_cuda),
                        frame, elements, place, map);
}

}  // namespace cudavision
