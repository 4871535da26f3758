// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic, shared by both backends, of the diffusion that fills the pixels that the patches have left unfilled.
//
// While diffusion runs, a byte per pixel marks its state: 0 if it was filled before the diffusion, kUnfilled if it is
// unfilled, and 1 or 2 if it was filled in an even or odd layer. The filled neighbours of an unfilled pixel always
// belong to the layer just before (beside a pixel of an earlier layer, it would have been filled one layer sooner), so
// two marks suffice to tell the previous layer from the one that is being filled.
#pragma once

#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

constexpr std::uint8_t kUnfilled = 255;

CUDAVISION_HOST_DEVICE constexpr std::uint8_t mark_of_layer(int layer) {
  return static_cast<std::uint8_t>(layer < 0 ? 0 : 1 + (layer & 1));
}

// The mean of pixel words, byte by byte, rounded half up.
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

// Calls visit(x, y) for the neighbours to the left, right, above and below that lie in the picture.
template <typename Visit>
CUDAVISION_HOST_DEVICE void for_each_neighbour(int x, int y, int width, int height, const Visit &visit) {
  if (x > 0) visit(x - 1, y);
  if (x + 1 < width) visit(x + 1, y);
  if (y > 0) visit(x, y - 1);
  if (y + 1 < height) visit(x, y + 1);
}

}  // namespace cudavision::inpaint
