// SPDX-License-Identifier: LGPL-2.1-or-later
// Painting maps: validation, and choice of a backend.
#include "cuda/draw/color_map.h"

#include "cuda/common/backends.h"
#include "cuda/draw/color_map_backends.h"
#include "cuda/draw/color_map_rules.h"

namespace cudavision {
namespace {

Status check(const Frame &frame, const MapElements &elements, const MapPlace &place, const ColorMap &map) {
  CUDAVISION_TRY(check_region(place.clip, frame.size()));
  if (elements.rows < 1 || elements.cols < 1 || elements.values == nullptr || place.step_x < 1 ||
      place.step_y < 1)
    return invalid_argument("a map without elements cannot be painted");
  if (map.count < 1 || map.count > kMaxMapColors || elements.high == elements.low)
    return invalid_argument("a map cannot be painted without colours and a range");
  return {};
}

}  // namespace

Status paint_color_map(const Execution &execution, const Frame &frame, const MapElements &elements,
                       const MapPlace &place, const ColorMap &map) {
  CUDAVISION_TRY(check(frame, elements, place, map));
  const draw::Span span = draw::painted_span(elements, place);
  if (span.x0 >= span.x1 || span.y0 >= span.y1) return {};  // no pixel lies in the region
  return run_on_backend(execution, CUDAVISION_BACKENDS(draw::paint_color_map), frame, elements, place, map);
}

}  // namespace cudavision
