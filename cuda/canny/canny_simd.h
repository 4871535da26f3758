// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised inner loops of the CPU backend: gradients and non-maximum suppression of a strip of rows.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstdint>

#include "cuda/canny/bitmap.h"
#include "cuda/canny/canny_rules.h"
#include "cuda/common/image.h"

namespace cudavision::canny {

// One thread's rows. Each has kMargin elements before its first and after its last pixel, rounded up to whole
// words.
class RowScratch {
 public:
  static constexpr int kMargin = 64;  // elements: wider than a vector and than any aperture

  explicit RowScratch(int width);

  std::int16_t *smooth() { return row16(0); }  // vertical pass: smoothed down the columns
  std::int16_t *derive() { return row16(1); }  // and differentiated down the columns
  std::int16_t *dx(int y) { return row16(2 + (y & 1)); }
  std::int16_t *dy(int y) { return row16(4 + (y & 1)); }
  // Magnitudes of three rows, y from -1 up, as int16 (L1: at most 24480) or int32 (L2).
  template <typename T>
  T *magnitude(int y) {
    return reinterpret_cast<T *>(magnitudes_.get() + stride_ * ((y + 3) % 3)) + kMargin;
  }
  int padded_width() const { return padded_width_; }

 private:
  std::int16_t *row16(int i) { return rows_.get() + stride_ * i + kMargin; }

  int padded_width_;
  std::ptrdiff_t stride_;
  hwy::AlignedFreeUniquePtr<std::int16_t[]> rows_;
  hwy::AlignedFreeUniquePtr<std::int32_t[]> magnitudes_;
};

// Rows [first, last) of mask become the pixels that are local maxima above the low threshold, those of strong
// the ones above the high threshold among them. Reads luma rows outside the range; writes no bit outside it.
void detect_rows(ImageView<const std::uint8_t> luma, int first, int last, const CannyParams &params,
                 RowScratch &scratch, Bitmap &mask, Bitmap &strong);

// edges[x] becomes 255 where bit x of bits is set and 0 elsewhere, for x in [0, width).
void expand_bits(const std::uint64_t *bits, int width, std::uint8_t *edges);

}  // namespace cudavision::canny
