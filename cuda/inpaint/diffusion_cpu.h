// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU's diffusion.
#pragma once

#include <vector>

#include "cuda/inpaint/diffusion_rules.h"

namespace cudavision::inpaint {

class Diffusion {
 public:
  // Fills the pixels that are marked kUnfilled, all within bounds; gives how many. Some pixel of the picture
  // is filled.
  int run(ImageView<std::uint32_t> pixels, ImageView<std::uint8_t> hole, Bounds bounds);

 private:
  struct Pixel {
    int x, y;
  };

  std::vector<Pixel> all_, left_, layer_;
  std::vector<std::uint32_t> next_;
};

}  // namespace cudavision::inpaint
