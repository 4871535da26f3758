// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised loops of the CPU backend: gradients and non-maximum suppression in a strip of rows.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstdint>

#include "cuda/canny/bitmap_cpu.h"
#include "cuda/canny/canny.h"
#include "cuda/common/image.h"

namespace cudavision::canny {

// The intermediate rows of one thread. The width is rounded up to a multiple of 64, and each row has a margin
// of kMargin elements on both sides.
class RowScratch {
 public:
  static constexpr int kMargin = 64;  // larger than the number of lanes and than the radius of any aperture

  explicit RowScratch(int width);

  // The results of the vertical pass for one row: the columns, smoothed and differentiated.
  std::int16_t *smooth() { return row16(0); }
  std::int16_t *derive() { return row16(1); }
  // The gradients of row y, one of the last two rows that were computed.
  std::int16_t *dx(int y) { return row16(2 + (y & 1)); }
  std::int16_t *dy(int y) { return row16(4 + (y & 1)); }
  // The magnitudes of row y >= -1, one of the last three computed. T: int16 for L1 (at most 24480), int32 for L2.
  template <typename T>
  T *magnitude(int y) {
    return reinterpret_cast<T *>(magnitudes_.get() + stride_ * ((y + 3) % 3)) + kMargin;
  }
  // Sets the width of the pictures, at most the one given to the constructor.
  void fit(int width) { padded_width_ = divide_up(width, 64) * 64; }
  int padded_width() const { return padded_width_; }

 private:
  std::int16_t *row16(int i) { return rows_.get() + stride_ * i + kMargin; }

  int padded_width_;
  std::ptrdiff_t stride_;
  hwy::AlignedFreeUniquePtr<std::int16_t[]> rows_;
  hwy::AlignedFreeUniquePtr<std::int32_t[]> magnitudes_;
};

// Sets rows [first, last) of mask to the local maxima above the low threshold, and those of strong to the
// local maxima above the high threshold. Reads rows of luma outside the range, but writes no bit outside it.
void detect_rows(ImageView<const std::uint8_t> luma, int first, int last, const CannyParams &params,
                 RowScratch &scratch, Bitmap &mask, Bitmap &strong);

// Sets edges[x] to 255 if bit x is set and to 0 otherwise, for x in [0, width).
void expand_bits(const std::uint64_t *bits, int width, std::uint8_t *edges);

}  // namespace cudavision::canny
