// SPDX-License-Identifier: LGPL-2.1-or-later
// Non-owning views of images in host or device memory: a pointer, a pitch and a size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda/common/host_device.h"

namespace cudavision {

struct Size {
  int width = 0, height = 0;

  friend bool operator==(const Size &, const Size &) = default;
};

// A rectangle of pixels. The origin is the top left corner; x points right and y points down.
struct Region {
  int x = 0, y = 0, width = 0, height = 0;

  friend bool operator==(const Region &, const Region &) = default;
};

// Compares differences, because r.x + r.width and r.y + r.height may exceed the range of int.
CUDAVISION_HOST_DEVICE constexpr bool contains(const Region &r, int x, int y) {
  return x >= r.x && y >= r.y && x - r.x < r.width && y - r.y < r.height;
}
CUDAVISION_HOST_DEVICE constexpr bool overlap(const Region &a, const Region &b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}
// Whether the region, which may be empty, lies within a picture of that size.
constexpr bool lies_within(const Region &r, Size picture) {
  return r.x >= 0 && r.y >= 0 && r.width >= 0 && r.height >= 0 && r.width <= picture.width - r.x &&
         r.height <= picture.height - r.y;
}

// height rows of width elements; row y begins y * pitch_bytes bytes after data. Offsets are 64-bit.
template <typename T>
struct ImageView {
  T *data = nullptr;
  std::ptrdiff_t pitch_bytes = 0;
  int width = 0, height = 0;

  CUDAVISION_HOST_DEVICE T *row(int y) const {
    using Byte = std::conditional_t<std::is_const_v<T>, const unsigned char, unsigned char>;
    return reinterpret_cast<T *>(reinterpret_cast<Byte *>(data) + y * pitch_bytes);
  }
  Size size() const { return {width, height}; }
  ImageView crop(Region r) const { return {row(r.y) + r.x, pitch_bytes, r.width, r.height}; }
  template <typename U>
  requires std::is_same_v<U, const T> CUDAVISION_HOST_DEVICE operator ImageView<U>() const {
    return {data, pitch_bytes, width, height};
  }
};

// Whether each row of an ImageView, or of other memory with these members, begins at a multiple of `bytes`.
template <typename Rows>
bool has_aligned_rows(const Rows &rows, int bytes) {
  return reinterpret_cast<std::uintptr_t>(rows.data) % static_cast<unsigned>(bytes) == 0 &&
         rows.pitch_bytes % bytes == 0;
}

CUDAVISION_HOST_DEVICE constexpr int divide_up(int n, int d) { return (n + d - 1) / d; }
CUDAVISION_HOST_DEVICE constexpr int clamp_index(int i, int count) {
  return i < 0 ? 0 : i >= count ? count - 1 : i;
}
// Mirrors i into [0, count) without repeating the first and the last element: ... 2 1 0 1 2 ...
// (BORDER_REFLECT_101 of OpenCV).
CUDAVISION_HOST_DEVICE constexpr int mirror_index(int i, int count) {
  if (count == 1) return 0;
  while (i < 0 || i >= count) i = i < 0 ? -i : 2 * (count - 1) - i;
  return i;
}

}  // namespace cudavision
