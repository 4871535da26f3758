// SPDX-License-Identifier: LGPL-2.1-or-later
// A picture with one bit per pixel in host memory: 64 pixels per word, and a border of zero words around it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "cuda/common/image.h"
#include "cuda/common/memory_budget.h"

namespace cudavision::canny {

static_assert(std::endian::native == std::endian::little, "pixel x is bit x % 8 of byte x / 8 of its row");

class Bitmap {
 public:
  explicit Bitmap(Size size)
      : words_per_row_(divide_up(size.width, 64)),
        height_(size.height),
        data_(static_cast<std::size_t>(words_per_row_ + 2) * static_cast<std::size_t>(height_ + 2)) {}

  // Sets the size, at most that given to the constructor. The pixels are undefined until they are set.
  void lay_out(Size size) {
    words_per_row_ = divide_up(size.width, 64), height_ = size.height;
    std::fill_n(row(-1) - 1, words_per_row_ + 2, std::uint64_t{0});
    std::fill_n(row(height_) - 1, words_per_row_ + 2, std::uint64_t{0});
    for (int y = 0; y < height_; ++y) row(y)[-1] = row(y)[words_per_row_] = 0;
  }

  int words_per_row() const { return words_per_row_; }
  int height() const { return height_; }
  // The words of row y, for y in [-1, height()] and word indices in [-1, words_per_row()]. Words outside the
  // picture are 0, and the caller must not change them.
  std::uint64_t *row(int y) {
    return data_.data() + static_cast<std::ptrdiff_t>(words_per_row_ + 2) * (y + 1) + 1;
  }
  const std::uint64_t *row(int y) const { return const_cast<Bitmap *>(this)->row(y); }

 private:
  int words_per_row_, height_;
  Array<std::uint64_t> data_;
};

}  // namespace cudavision::canny
