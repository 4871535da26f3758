// SPDX-License-Identifier: LGPL-2.1-or-later
// Derivatives and pyramid levels on the CPU. Highway compiles this file once per instruction set; the
// compiler vectorises the loops.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/opticalflow/flow_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>

#include "cuda/opticalflow/flow_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::opticalflow::HWY_NAMESPACE {

void derive_rows(ImageView<const std::uint8_t> level, int first, int last, ImageView<std::int16_t> dx,
                 ImageView<std::int16_t> dy) {
  for (int y = first; y < last; ++y) {
    const std::uint8_t *__restrict__ above = level.row(y - 1), *__restrict__ here = level.row(y),
                                     *__restrict__ below = level.row(y + 1);
    std::int16_t *__restrict__ out_x = dx.row(y), *__restrict__ out_y = dy.row(y);
    for (int x = 0; x < level.width; ++x) {
      out_x[x] = static_cast<std::int16_t>(
          scharr(above[x + 1] - above[x - 1], here[x + 1] - here[x - 1], below[x + 1] - below[x - 1]));
      out_y[x] = static_cast<std::int16_t>(
          scharr(below[x - 1] - above[x - 1], below[x] - above[x], below[x + 1] - above[x + 1]));
    }
  }
}

void shrink_rows(ImageView<const std::uint8_t> level, int first, int last, ImageView<std::uint8_t> next) {
  constexpr int kChunk = 256;  // pixels of the next level that are computed from one buffer of vertical sums
  std::int16_t sums[2 * kChunk + 3];
  for (int y = first; y < last; ++y) {
    const std::uint8_t *rows[5];
    for (int k = 0; k < 5; ++k) rows[k] = level.row(2 * y + k - 2);
    for (int x0 = 0; x0 < next.width; x0 += kChunk) {
      const int count = std::min(kChunk, next.width - x0), begin = 2 * x0 - 2;
      for (int i = 0; i < 2 * count + 3; ++i)
        sums[i] =
            static_cast<std::int16_t>(smooth_5(rows[0][begin + i], rows[1][begin + i], rows[2][begin + i],
                                               rows[3][begin + i], rows[4][begin + i]));
      std::uint8_t *__restrict__ out = next.row(y) + x0;
      for (int i = 0; i < count; ++i) {
        const std::int16_t *s = sums + 2 * i;
        out[i] = static_cast<std::uint8_t>((smooth_5(s[0], s[1], s[2], s[3], s[4]) + 128) >> 8);
      }
    }
  }
}

}  // namespace cudavision::opticalflow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudavision::opticalflow {

HWY_EXPORT(derive_rows);
HWY_EXPORT(shrink_rows);

void derive_rows(ImageView<const std::uint8_t> level, int first, int last, ImageView<std::int16_t> dx,
                 ImageView<std::int16_t> dy) {
  HWY_DYNAMIC_DISPATCH(derive_rows)(level, first, last, dx, dy);
}

void shrink_rows(ImageView<const std::uint8_t> level, int first, int last, ImageView<std::uint8_t> next) {
  HWY_DYNAMIC_DISPATCH(shrink_rows)(level, first, last, next);
}

}  // namespace cudavision::opticalflow
#endif
