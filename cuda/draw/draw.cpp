// SPDX-License-Identifier: LGPL-2.1-or-later
// Drawing masks, maps and primitives: validation, the choice of a backend, and texts as primitives.
#include "cuda/draw/draw.h"

#include "cuda/common/backends.h"
#include "cuda/draw/canvas.h"
#include "cuda/draw/color_map.h"
#include "cuda/draw/color_map_rules.h"
#include "cuda/draw/draw_backends.h"
#include "cuda/draw/text.h"

namespace cudavision {
namespace {

Status paint(const Execution &execution, const Frame &frame, Region region,
             ImageView<const std::uint8_t> mask, const draw::Style &style) {
  CUDAVISION_TRY(check_size("mask", mask.size(), {region.width, region.height}));
  CUDAVISION_TRY(check_region(region, frame.size()));
  return run_on_backend(execution, CUDAVISION_BACKENDS(draw::paint), frame, region, mask, style);
}

}  // namespace

Status replace_with_mask(const Execution &execution, const Frame &frame, Region region,
                         ImageView<const std::uint8_t> mask) {
  return paint(execution, frame, region, mask, {.replace = true, .color = {}});
}

Status overlay_mask(const Execution &execution, const Frame &frame, Region region,
                    ImageView<const std::uint8_t> mask, Color color) {
  return paint(execution, frame, region, mask, {.replace = false, .color = color});
}

Status make_canvas(const Execution &execution, Size size, std::unique_ptr<Canvas> *canvas) {
  return make_on_backend(execution, size, canvas, CUDAVISION_BACKENDS(draw::make_canvas));
}

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

void append_text(std::vector<Primitive> *primitives, std::string_view text, int x, int y,
                 const TextStyle &style) {
  if (text.empty()) return;
  const int margin = style.scale;
  primitives->push_back(make_primitive(Primitive::Kind::filled_rectangle, 1, style.background, x - margin,
                                       y - margin, x + text_width(text, style.scale) - 1 + margin,
                                       y + kTextHeight * style.scale - 1 + margin));
  for (const char character : text) {
    if (character != ' ')
      primitives->push_back(
          make_primitive(Primitive::Kind::character, style.scale, style.color, x, y, character, 0));
    x += kTextAdvance * style.scale;
  }
}

}  // namespace cudavision
