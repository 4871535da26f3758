// SPDX-License-Identifier: LGPL-2.1-or-later
// Collects the pixels of a mask from the decoder of its picture, and turns the picture upright.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cuda/common/image.h"
#include "cuda/common/memory_budget.h"
#include "cuda/common/status.h"

namespace cudavision {

// From this luma on, the opaque pixels of a mask are removed.
constexpr int kLeastMaskLuma = 128;

class MaskPixels {
 public:
  // Prepares the picture. size: as the file stores it. orientation: how it must be turned and mirrored, as the tag
  // Orientation of Exif and TIFF says: 2 to 8; all other numbers mean that it is upright. Fails if the picture has more
  // pixels than are read. Throws std::bad_alloc.
  Status begin(Size size, unsigned orientation);
  // Takes `count` pixels, RGBA, at the columns x, x + step, x + 2 step, ... of row y of the stored picture.
  void put(const std::uint8_t *rgba, int count, int x, int step, int y);

  Size size() const { return size_; }  // of the upright picture
  Array<std::uint8_t> take() { return std::move(pixels_); }
  // The largest luma of the opaque pixels; none if there are no such pixels.
  std::optional<int> brightest() const { return brightest_; }

 private:
  Size size_{};
  // The index of the stored pixel (x, y) in the upright picture is origin_ + x * right_ + y * down_.
  std::ptrdiff_t origin_ = 0, right_ = 0, down_ = 0;
  std::optional<int> brightest_;
  Array<std::uint8_t> pixels_;
};

}  // namespace cudavision
