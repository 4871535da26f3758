// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts masks with one byte per pixel to bits and back, eight pixels at a time. A pixel is set if its byte is 255;
// pixels with other values, such as the shadows of cuda/bgsub, are not set.
#pragma once

#include <cstdint>

#include "cuda/common/host_device.h"

namespace cudavision {

// Bit i is set if byte i of `bytes`, counted from the lowest one, is 255.
CUDAVISION_HOST_DEVICE constexpr unsigned set_pixels(std::uint64_t bytes) {
  constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  // The highest bit of each byte tells whether the byte is not 255; the multiplication moves these bits side by side.
  const std::uint64_t missing = ~bytes, other = ((missing & kLow) + kLow) | missing;
  return static_cast<unsigned>(((~other & ~kLow) >> 7) * 0x0102040810204080 >> 56);
}

// The reverse of set_pixels(): byte i of the result is 255 if bit i is set, and otherwise 0.
CUDAVISION_HOST_DEVICE constexpr std::uint64_t pixel_bytes(unsigned bits) {
  constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  const std::uint64_t spread = std::uint64_t{bits & 255} * 0x0101010101010101 & 0x8040201008040201;
  return (((spread + kLow) | spread) & ~kLow) / 128 * 255;
}

// Bit i is set if pixel x + i of the row is set, and 0 from `width` on. Eight aligned bytes are read as one word.
CUDAVISION_HOST_DEVICE inline unsigned set_pixels_of_row(const std::uint8_t *row, int x, int width) {
  std::uint64_t bytes = 0;
  if (x + 8 <= width && reinterpret_cast<std::uintptr_t>(row + x) % 8 == 0)
    bytes = *reinterpret_cast<const std::uint64_t *>(row + x);
  else
    for (int i = 0; i < 8 && x + i < width; ++i) bytes |= std::uint64_t{row[x + i]} << 8 * i;
  return set_pixels(bytes);
}

// Writes the pixels [x, x + 8) of a row, as far as they are before `width`: 255 for each set bit, otherwise 0.
CUDAVISION_HOST_DEVICE inline void write_pixels(unsigned bits, int x, int width, std::uint8_t *row) {
  const std::uint64_t bytes = pixel_bytes(bits);
  if (x + 8 <= width && reinterpret_cast<std::uintptr_t>(row + x) % 8 == 0)
    *reinterpret_cast<std::uint64_t *>(row + x) = bytes;
  else
    for (int i = 0; i < 8 && x + i < width; ++i) row[x + i] = static_cast<std::uint8_t>(bytes >> 8 * i);
}

}  // namespace cudavision
