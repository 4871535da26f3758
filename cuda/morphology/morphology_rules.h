// SPDX-License-Identifier: LGPL-2.1-or-later
// The passes of morphology on bits, which both backends use: 32 pixels per word, pixel 32 i + k of a row in bit k of word i.
// An erosion is a dilation of the pixels that are not set.
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
                    1];  // half the width of the shape, this many rows from its centre; it falls
};
struct Passes {
  int count = 0;
  int halo = 0;  // the sum of the radii: so far away can pixels be that decide on one
  bool complement = false;
  Pass pass[kMaxPasses] = {};

  // Whether pass i works on the pixels that are not set. What follows the last pass is the result.
  CUDAVISION_HOST_DEVICE bool inverts(int i) const { return i < count ? pass[i].erodes : complement; }
};
Passes passes_of(const MorphologyParams &params);

// The bits of word i of a row that belong to pixels of the picture.
CUDAVISION_HOST_DEVICE constexpr std::uint32_t pixels_inside(int i, int width) {
  const int left = width - kWordPixels * i;
  return i < 0 || left <= 0 ? 0 : left >= kWordPixels ? ~0u : (1u << left) - 1;
}

// A window of a row: a word with the 16 pixels before it and behind it. Bits outside of the picture are 0.
CUDAVISION_HOST_DEVICE constexpr std::uint64_t window_of(const std::uint32_t *word) {
  return word[-1] >> kWordPixels / 2 | std::uint64_t{word[0]} << kWordPixels / 2 |
         std::uint64_t{word[1]} << kWordPixels * 3 / 2;
}
CUDAVISION_HOST_DEVICE constexpr std::uint32_t word_of(std::uint64_t window) {
  return static_cast<std::uint32_t>(window >> kWordPixels / 2);
}

// Calls shift(n) for the steps in which bits | bits << n | bits >> n sets all bits up to `by` places from one that is set. The
// steps leave no gaps: what is set already is a run of 2 done + 1 bits around each bit.
template <typename Shift>
CUDAVISION_HOST_DEVICE constexpr void widen(int by, const Shift &shift) {
  for (int done = 0; done < by;) {
    const int step = 2 * done + 1 < by - done ? 2 * done + 1 : by - done;
    shift(step);
    done += step;
  }
}

}  // namespace cudavision::morphology
