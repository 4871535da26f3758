// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel that computes the Scharr derivatives of one level of the pyramid and the next level.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/launch.h"
#include "cuda/opticalflow/flow_rules.h"

namespace cudavision::opticalflow {

// The Scharr derivatives of a pixel.
struct alignas(4) ScharrGradient {
  std::int16_t x, y;
};

// A block computes kShrinkX x kShrinkY pixels of the next level, one per thread.
constexpr int kShrinkX = 32, kShrinkY = 8;
constexpr int kShrinkThreads = kShrinkX * kShrinkY;

// The pixels of a block with a halo of two pixels: element [0][0] is two rows above and two columns left of
// the first pixel of the block.
struct LevelTile {
  std::uint8_t pixel[2 * kShrinkY + 4][2 * kShrinkX + 4];
  std::uint16_t sum[2 * kShrinkY + 4][kShrinkX];  // horizontally smoothed pixels, at most 16 * 255
};

__device__ inline void load_tile(ImageView<const std::uint8_t> level, int x0, int y0, LevelTile &tile) {
  constexpr int kWidth = 2 * kShrinkX + 4, kHeight = 2 * kShrinkY + 4;
  for (int i = static_cast<int>(threadIdx.x); i < kWidth * kHeight; i += kShrinkThreads)
    tile.pixel[i / kWidth][i % kWidth] = level.row(
        mirror_index(y0 + i / kWidth - 2, level.height))[mirror_index(x0 + i % kWidth - 2, level.width)];
}

// Each block works on 2 kShrinkX x 2 kShrinkY pixels of a level: it copies them (unless `copy` is empty),
// computes their derivatives, and computes their part of the next level (unless `next` is empty).
static __global__ void __launch_bounds__(kShrinkThreads)
    prepare_level_kernel(ImageView<const std::uint8_t> level, ImageView<std::uint8_t> copy,
                         ImageView<ScharrGradient> gradient, ImageView<std::uint8_t> next) {
  wait_for_kernel_ahead();
  let_next_kernel_start();
  __shared__ LevelTile tile;
  const int thread = static_cast<int>(threadIdx.x);
  const int x0 = static_cast<int>(blockIdx.x) * 2 * kShrinkX,
            y0 = static_cast<int>(blockIdx.y) * 2 * kShrinkY;
  load_tile(level, x0, y0, tile);
  __syncthreads();

  for (int i = thread; i < 4 * kShrinkThreads; i += kShrinkThreads) {
    const int tx = i % (2 * kShrinkX), ty = i / (2 * kShrinkX), x = x0 + tx, y = y0 + ty;
    if (x >= level.width || y >= level.height) continue;
    const auto at = [&](int dx, int dy) { return static_cast<int>(tile.pixel[ty + 2 + dy][tx + 2 + dx]); };
    gradient.row(y)[x] = {
        static_cast<std::int16_t>(scharr(at(1, -1) - at(-1, -1), at(1, 0) - at(-1, 0), at(1, 1) - at(-1, 1))),
        static_cast<std::int16_t>(
            scharr(at(-1, 1) - at(-1, -1), at(0, 1) - at(0, -1), at(1, 1) - at(1, -1)))};
    if (copy.data != nullptr) copy.row(y)[x] = tile.pixel[ty + 2][tx + 2];
  }
  if (next.data == nullptr) return;  // the same for all threads

  for (int i = thread; i < (2 * kShrinkY + 4) * kShrinkX; i += kShrinkThreads) {
    const std::uint8_t *p = &tile.pixel[i / kShrinkX][2 * (i % kShrinkX)];
    tile.sum[i / kShrinkX][i % kShrinkX] = static_cast<std::uint16_t>(smooth_5(p[0], p[1], p[2], p[3], p[4]));
  }
  __syncthreads();
  const int tx = thread % kShrinkX, ty = thread / kShrinkX, x = x0 / 2 + tx, y = y0 / 2 + ty;
  if (x >= next.width || y >= next.height) return;
  const auto s = [&](int k) { return static_cast<int>(tile.sum[2 * ty + k][tx]); };
  next.row(y)[x] = static_cast<std::uint8_t>((smooth_5(s(0), s(1), s(2), s(3), s(4)) + 128) >> 8);
}

}  // namespace cudavision::opticalflow
