// SPDX-License-Identifier: LGPL-2.1-or-later
// The two backends of paint_color_map(), which paints a map of numbers over a frame, in colours.
#pragma once

#include "cuda/draw/color_map.h"

namespace cudavision::draw {

Status paint_color_map_cpu(const Execution &execution, const Frame &frame, const MapElements &elements,
                           const MapPlace &place, const ColorMap &map);
Status paint_color_map_cuda(const Execution &execution, const Frame &frame, const MapElements &elements,
                            const MapPlace &place, const ColorMap &map);

}  // namespace cudavision::draw
