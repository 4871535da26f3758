// SPDX-License-Identifier: LGPL-2.1-or-later
// The diffusion that fills what patches have left, for both backends.
//
// Marks in the picture of the hole: 0 filled before, kUnfilled, and 1 or 2, which layers take in turn, for
// what diffusion fills. An unfilled pixel's filled neighbours are all of the layer just before (those of an
// earlier one have filled it themselves), so that two marks are enough to tell a layer from the one that is
// being filled.
#pragma once

#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

constexpr std::uint8_t kUnfilled = 255;

CUDAVISION_HOST_DEVICE constexpr std::uint8_t mark_of_layer(int layer) {
  return static_cast<std::uint8_t>(layer < 0 ? 0 : 1 + (layer & 1));
}

// The mean of words, byte by byte, rounded half up.
struct MeanOfWords {
  int sum[4] = {}, count = 0;

  CUDAVISION_HOST_DEVICE void add(std::uint32_t word) {
    for (int i = 0; i < 4; ++i) sum[i] += byte_of(word, i);
    ++count;
  }
  CUDAVISION_HOST_DEVICE std::uint32_t value() const {
    const int half = count / 2;
    return pack((sum[0] + half) / count, (sum[1] + half) / count, (sum[2] + half) / count,
                (sum[3] + half) / count);
  }
};

// Calls visit(x, y) for the neighbours to the left, right, above and below that the picture has.
template <typename Visit>
CUDAVISION_HOST_DEVICE void for_each_neighbour(int x, int y, int width, int height, const Visit &visit) {
  if (x > 0) visit(x - 1, y);
  if (x + 1 < width) visit(x + 1, y);
  if (y > 0) visit(x, y - 1);
  if (y + 1 < height) visit(x, y + 1);
}

}  // namespace cudavision::inpaint
