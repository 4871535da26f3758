// SPDX-License-Identifier: LGPL-2.1-or-later
// What the two implementations of drawing share: the rule of a pixel and of a chroma sample.
#pragma once

#include "cuda/common/host_device.h"
#include "cuda/draw/draw.h"

namespace cudavision::draw {

// How a mask is laid on a frame.
struct Style {
  bool replace;  // the picture becomes the mask; otherwise color is laid over it
  Color color;
};

CUDAVISION_HOST_DEVICE constexpr std::uint8_t blend(std::uint8_t color, std::uint8_t alpha,
                                                    std::uint8_t pixel) {
  return static_cast<std::uint8_t>((alpha * color + (255 - alpha) * pixel + 127) / 255);
}

// Component i may be subsampled: written once for a group of pixels, rather than at every one.
CUDAVISION_HOST_DEVICE inline bool is_chroma(const Frame &frame, int i) {
  return frame.model == ColorModel::yuv && i > 0;
}

// The rectangle of chroma samples that cover the region.
CUDAVISION_HOST_DEVICE inline Region chroma_region(const Component &c, Region region) {
  const int x = region.x >> c.shift_x, y = region.y >> c.shift_y;
  return {x, y, ((region.x + region.width - 1) >> c.shift_x) - x + 1,
          ((region.y + region.height - 1) >> c.shift_y) - y + 1};
}

// Whether the mask is set on any pixel of sample (x, y) of a component, in the component's own coordinates.
CUDAVISION_HOST_DEVICE inline bool covers(const Component &c, int x, int y, Region region,
                                          ImageView<const std::uint8_t> mask) {
  for (int py = y << c.shift_y; py < (y + 1) << c.shift_y; ++py)
    for (int px = x << c.shift_x; px < (x + 1) << c.shift_x; ++px) {
      const int mx = px - region.x, my = py - region.y;
      if (mx >= 0 && my >= 0 && mx < region.width && my < region.height && mask.row(my)[mx] != 0) return true;
    }
  return false;
}

Status paint_cpu(const Execution &execution, const Frame &frame, Region region,
                 ImageView<const std::uint8_t> mask, const Style &style);
Status paint_cuda(const Execution &execution, const Frame &frame, Region region,
                  ImageView<const std::uint8_t> mask, const Style &style);

}  // namespace cudavision::draw
