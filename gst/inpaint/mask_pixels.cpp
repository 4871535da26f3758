// SPDX-License-Identifier: LGPL-2.1-or-later
// Collects the pixels of a mask from the decoder of its picture, and turns the picture upright.
#include "gst/inpaint/mask_pixels.h"

#include <algorithm>
#include <string>

#include "cuda/common/backends.h"
#include "cuda/luma/luma.h"

namespace cudavision {

Status MaskPixels::begin(Size size, unsigned orientation) {
  constexpr int kMostPixels = 1 << 25;  // a frame of 7680x4320
  if (size.width > kMaxSide || size.height > kMaxSide ||
      std::ptrdiff_t{size.width} * size.height > kMostPixels)
    return invalid_argument("it has " + to_string(size) + " pixels; at most " + std::to_string(kMostPixels) +
                            ", and " + std::to_string(kMaxSide) +
                            " on a side, are read. A smaller picture is scaled to the frame");
  const std::ptrdiff_t width = size.width, height = size.height;
  const bool on_its_side = orientation >= 5 && orientation <= 8;
  size_ = on_its_side ? Size{size.height, size.width} : size;
  // The steps to the next pixel on the right and below. If the picture is mirrored, they lead to the left or upwards.
  const bool to_left = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool upwards = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  right_ = (on_its_side ? height : 1) * (to_left ? -1 : 1);
  down_ = (on_its_side ? 1 : width) * (upwards ? -1 : 1);
  origin_ = (to_left ? -right_ * (width - 1) : 0) + (upwards ? -down_ * (height - 1) : 0);
  pixels_.assign(static_cast<std::size_t>(width * height), 0);
  return {};
}

void MaskPixels::put(const std::uint8_t *rgba, int count, int x, int step, int y) {
  std::uint8_t *pixel = pixels_.data() + origin_ + x * right_ + y * down_;
  for (int i = 0; i < count; ++i, rgba += 4, pixel += step * right_) {
    const int luma = luma_of_rgb(rgba[0], rgba[1], rgba[2]);
    const bool is_opaque = rgba[3] >= 128;
    *pixel = luma >= kLeastMaskLuma && is_opaque ? 255 : 0;
    if (is_opaque) brightest_ = std::max(brightest_.value_or(0), luma);
  }
}

}  // namespace cudavision
