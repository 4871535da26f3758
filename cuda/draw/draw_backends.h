// SPDX-License-Identifier: LGPL-2.1-or-later
// The two backends of drawing masks.
#pragma once

#include "cuda/draw/draw.h"

namespace cudavision::draw {

// How a mask is drawn.
struct Style {
  bool replace;  // true: the picture becomes the mask; false: color is blended over the picture
  Color color;
};

Status paint_cpu(const Execution &execution, const Frame &frame, Region region,
                 ImageView<const std::uint8_t> mask, const Style &style);
Status paint_cuda(const Execution &execution, const Frame &frame, Region region,
                  ImageView<const std::uint8_t> mask, const Style &style);

}  // namespace cudavision::draw
