// SPDX-License-Identifier: LGPL-2.1-or-later
// The diffusion of the CPU backend: layers, then smoothing rounds, over lists of pixels.
#include "cuda/inpaint/diffusion_cpu.h"

namespace cudavision::inpaint {

int Diffusion::run(ImageView<std::uint32_t> pixels, ImageView<std::uint8_t> hole, Bounds bounds) {
  const int width = pixels.width, height = pixels.height;
  all_.clear();
  for (int y = bounds.y0; y < bounds.y1; ++y)
    for (int x = bounds.x0; x < bounds.x1; ++x)
      if (hole.row(y)[x] == kUnfilled) all_.push_back({x, y});
  left_ = all_;
  for (int layer = 0; !left_.empty(); ++layer) {
    const std::uint8_t before = mark_of_layer(layer - 1);
    layer_.clear();
    std::erase_if(left_, [&](Pixel p) {
      MeanOfWords mean;
      for_each_neighbour(p.x, p.y, width, height, [&](int x, int y) {
        if (hole.row(y)[x] == before) mean.add(pixels.row(y)[x]);
      });
      if (mean.count == 0) return false;
      pixels.row(p.y)[p.x] = mean.value();
      layer_.push_back(p);
      return true;
    });
    for (const Pixel p : layer_) hole.row(p.y)[p.x] = mark_of_layer(layer);
  }
  next_.resize(all_.size());
  for (int round = 0; round < kSmoothingRounds; ++round) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      MeanOfWords mean;
      for_each_neighbour(all_[i].x, all_[i].y, width, height,
                         [&](int x, int y) { mean.add(pixels.row(y)[x]); });
      next_[i] = mean.value();
    }
    for (std::size_t i = 0; i < all_.size(); ++i) pixels.row(all_[i].y)[all_[i].x] = next_[i];
  }
  return static_cast<int>(all_.size());
}

}  // namespace cudavision::inpaint
