// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of drawing masks, primitives and maps.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/draw/canvas.h"
#include "cuda/draw/color_map.h"
#include "cuda/draw/draw.h"

namespace cudavision::draw {

// How a mask is drawn.
struct Style {
  bool replace;  // true: the picture becomes the mask; false: color is blended over the picture
  Color color;
};

Status paint_cpu(const Execution &execution, const Frame &frame, Region region,
                 ImageView<const std::uint8_t> mask, const Style &style);
decltype(paint_cpu) paint_cuda;
decltype(make_canvas) make_canvas_cpu, make_canvas_cuda;
decltype(paint_color_map) paint_color_map_cpu, paint_color_map_cuda;

}  // namespace cudavision::draw
