// SPDX-License-Identifier: LGPL-2.1-or-later
// The passes of morphology on bits, which both backends use: 32 pixels per word, pixel 32 i + k of a row in bit k of
// word i. An erosion is computed as a dilation of the pixels that are not set.
#pragma once

#include "cuda/common/host_device.h"
#include "cuda/morphology/morphology.h"

namespace cudavision::morphology {

constexpr int kWordPixels = 32;
constexpr int kMaxPasses = 2 * kMaxMorphologies;

// One erosion or dilation.
struct Pass {
  bool erodes;
  int radius;
  std::int8_t reach[kMaxMorphologyRadius +
                    1];  // reach[dy]: half the width of the shape dy rows from its centre; falls with dy
};
struct Passes {
  int count = 0;
  int halo = 0;  // the sum of the radii: a pixel depends on pixels up to this distance
  bool complement = false;
  Pass pass[kMaxPasses] = {};

  // Whether pass i works on the complement, the pixels that are not set. i = count: whether the result is inverted.
  CUDAVISION_HOST_DEVICE bool inverts(int i) const { return i < count ? pass[i].erodes : complement; }
};
Passes passes_of(const MorphologyParams &params);

// The bits of word i of a row that belong to pixels of the picture.
CUDAVISION_HOST_DEVICE constexpr std::uint32_t pixels_inside(int i, int width) {
  const int left = width - kWordPixels * i;
  return i < 0 || left <= 0 ? 0 : left >= kWordPixels ? ~0u : (1u << left) - 1;
}

// The window of a word of a row: its pixels, the 16 before them and the 16 behind. Bits outside of the picture are 0.
CUDAVISION_HOST_DEVICE constexpr std::uint64_t window_of(const std::uint32_t *word) {
  return word[-1] >> kWordPixels / 2 | std::uint64_t{word[0]} << kWordPixels / 2 |
         std::uint64_t{word[1]} << kWordPixels * 3 / 2;
}
CUDAVISION_HOST_DEVICE constexpr std::uint32_t word_of(std::uint64_t window) {
  return static_cast<std::uint32_t>(window >> kWordPixels / 2);
}

// Calls shift(n), which must do bits |= bits << n | bits >> n, for such steps n that each set bit is widened by `by`
// places on both sides. The steps leave no gaps: 2 done + 1 bits in a row are set already around each bit.
template <typename Shift>
CUDAVISION_HOST_DEVICE constexpr void widen(int by, const Shift &shift) {
  for (int done = 0; done < by;) {
    const int step = 2 * done + 1 < by - done ? 2 * done + 1 : by - done;
    shift(step);
    done += step;
  }
}

}  // namespace cudavision::morphology
