// SPDX-License-Identifier: LGPL-2.1-or-later
// A picture in host memory that owns its pixels, and the comparison of two pictures.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/common/image.h"

namespace cudavision::test {

// height rows of width elements without padding.
template <typename T>
class HostImage {
 public:
  HostImage() = default;
  explicit HostImage(Size size, T value = {})
      : size_(size),
        pixels_(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height), value) {}

  Size size() const { return size_; }
  int width() const { return size_.width; }
  int height() const { return size_.height; }
  T *row(int y) { return pixels_.data() + static_cast<std::ptrdiff_t>(y) * size_.width; }
  const T *row(int y) const { return pixels_.data() + static_cast<std::ptrdiff_t>(y) * size_.width; }
  T &at(int x, int y) { return row(y)[x]; }
  const T &at(int x, int y) const { return row(y)[x]; }
  std::vector<T> &pixels() { return pixels_; }
  const std::vector<T> &pixels() const { return pixels_; }

  HostImage crop(Region region) const {
    HostImage part(Size{region.width, region.height});
    for (int y = 0; y < region.height; ++y)
      for (int x = 0; x < region.width; ++x) part.at(x, y) = at(region.x + x, region.y + y);
    return part;
  }

  friend bool operator==(const HostImage &, const HostImage &) = default;

 private:
  Size size_;
  std::vector<T> pixels_;
};

using Picture = HostImage<std::uint8_t>;

template <typename T>
int count_of(const HostImage<T> &image, T value) {
  int count = 0;
  for (const T pixel : image.pixels()) count += pixel == value;
  return count;
}

// EXPECT_TRUE(same(actual, expected)) prints the number of different pixels and the first of them.
template <typename T>
testing::AssertionResult same(const HostImage<T> &actual, const HostImage<T> &expected) {
  if (actual == expected) return testing::AssertionSuccess();
  if (actual.size() != expected.size())
    return testing::AssertionFailure() << actual.width() << "x" << actual.height() << " pixels instead of "
                                       << expected.width() << "x" << expected.height();
  int count = 0, first_x = 0, first_y = 0;
  for (int y = expected.height() - 1; y >= 0; --y)
    for (int x = expected.width() - 1; x >= 0; --x)
      if (actual.at(x, y) != expected.at(x, y)) ++count, first_x = x, first_y = y;
  return testing::AssertionFailure() << count << " pixels of " << expected.width() << "x" << expected.height()
                                     << " differ, first (" << first_x << ", " << first_y
                                     << "): " << +actual.at(first_x, first_y) << " instead of "
                                     << +expected.at(first_x, first_y);
}

}  // namespace cudavision::test
