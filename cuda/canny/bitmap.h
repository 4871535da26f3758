// SPDX-License-Identifier: LGPL-2.1-or-later
// A picture of one bit per pixel in host memory, 64 pixels a word, with a frame of empty words around it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/common/image.h"

namespace cudavision::canny {

static_assert(std::endian::native == std::endian::little, "pixel x is bit x % 8 of byte x / 8 of its row");

class Bitmap {
 public:
  explicit Bitmap(Size size)
      : words_(divide_up(size.width, 64)),
        height_(size.height),
        data_(static_cast<std::size_t>(words_ + 2) * static_cast<std::size_t>(height_ + 2)) {}

  int words() const { return words_; }  // of a row
  int height() const { return height_; }
  // y in [-1, height()]; word i of the row for i in [-1, words()]. Rows and words outside the picture are 0
  // and stay so.
  std::uint64_t *row(int y) { return data_.data() + static_cast<std::ptrdiff_t>(words_ + 2) * (y + 1) + 1; }
  const std::uint64_t *row(int y) const { return const_cast<Bitmap *>(this)->row(y); }

 private:
  int words_, height_;
  std::vector<std::uint64_t> data_;
};

}  // namespace cudavision::canny
