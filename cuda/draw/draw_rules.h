// SPDX-License-Identifier: LGPL-2.1-or-later
// Arithmetic of drawing that both backends share: blending, and which chroma samples a region covers.
#pragma once

#include <cstdint>

#include "cuda/common/frame.h"
#include "cuda/common/host_device.h"
#include "cuda/common/image.h"

namespace cudavision::draw {

// (alpha * color + (255 - alpha) * pixel) / 255, rounded to the nearest integer.
CUDAVISION_HOST_DEVICE constexpr std::uint8_t blend(std::uint8_t color, std::uint8_t alpha,
                                                    std::uint8_t pixel) {
  return static_cast<std::uint8_t>((alpha * color + (255 - alpha) * pixel + 127) / 255);
}

// Whether component i is chroma. Chroma may be subsampled, so it is written once per sample instead of once per pixel.
CUDAVISION_HOST_DEVICE inline bool is_chroma(const Frame &frame, int i) {
  return frame.model == ColorModel::yuv && i > 0;
}

// The rectangle of chroma samples that cover the region.
CUDAVISION_HOST_DEVICE inline Region chroma_region(const Component &c, Region region) {
  const int x = region.x >> c.shift_x, y = region.y >> c.shift_y;
  return {x, y, ((region.x + region.width - 1) >> c.shift_x) - x + 1,
          ((region.y + region.height - 1) >> c.shift_y) - y + 1};
}

// Whether the mask is nonzero at any pixel of sample (x, y) of a component; x and y count samples of the
// component. Pixels outside the region count as zero.
CUDAVISION_HOST_DEVICE inline bool covers(const Component &c, int x, int y, Region region,
                                          ImageView<const std::uint8_t> mask) {
  for (int py = y << c.shift_y; py < (y + 1) << c.shift_y; ++py)
    for (int px = x << c.shift_x; px < (x + 1) << c.shift_x; ++px) {
      const int mx = px - region.x, my = py - region.y;
      if (mx >= 0 && my >= 0 && mx < region.width && my < region.height && mask.row(my)[mx] != 0) return true;
    }
  return false;
}

}  // namespace cudavision::draw
