// SPDX-License-Identifier: LGPL-2.1-or-later
// The diffusion of the CPU backend.
#pragma once

#include "cuda/common/memory_budget.h"
#include "cuda/inpaint/diffusion_rules.h"

namespace cudavision::inpaint {

class Diffusion {
 public:
  // Fills the pixels whose mark in `hole` is kUnfilled and returns their number. They must lie within bounds,
  // and the picture must have at least one filled pixel.
  int run(ImageView<std::uint32_t> pixels, ImageView<std::uint8_t> hole, Bounds bounds);

 private:
  struct Pixel {
    int x, y;
  };

  Array<Pixel> all_, left_, layer_;
  Array<std::uint32_t> next_;
};

}  // namespace cudavision::inpaint
