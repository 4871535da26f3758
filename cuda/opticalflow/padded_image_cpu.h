// SPDX-License-Identifier: LGPL-2.1-or-later
// An image in host memory with a padding on all sides, so that windows and displacements may reach beyond its borders.
#pragma once

#include "cuda/common/image.h"
#include "cuda/common/memory_budget.h"

namespace cudavision::opticalflow {

template <typename T>
class PaddedImage {
 public:
  // Large enough for a tile of 64 x 16 pixels with windows of 31 x 31, all displaced by one vector that has
  // just moved the first or the last window out of the picture.
  static constexpr int kColumns = 96, kRows = 48;

  PaddedImage() = default;
  // All elements, those of the padding included, are zero.
  explicit PaddedImage(Size size)
      : size_(size),
        stride_(size.width + 2 * kColumns),
        data_(static_cast<std::size_t>(stride_) * static_cast<std::size_t>(size.height + 2 * kRows)) {}

  Size size() const { return size_; }
  // Rows -kRows to height + kRows - 1 and columns -kColumns to width + kColumns - 1 of the view can be accessed.
  ImageView<T> view() { return {data_.data() + origin(), pitch(), size_.width, size_.height}; }
  ImageView<const T> view() const { return {data_.data() + origin(), pitch(), size_.width, size_.height}; }

 private:
  std::ptrdiff_t origin() const { return static_cast<std::ptrdiff_t>(stride_) * kRows + kColumns; }
  std::ptrdiff_t pitch() const { return stride_ * static_cast<std::ptrdiff_t>(sizeof(T)); }

  Size size_;
  int stride_ = 0;  // elements
  Array<T> data_;
};

}  // namespace cudavision::opticalflow
