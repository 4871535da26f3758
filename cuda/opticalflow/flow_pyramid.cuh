// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel that computes the Scharr derivatives of one level of the pyramid and the next level.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/launch_cuda.h"
#include "cuda/common/static_shared.cuh"
#include "cuda/opticalflow/flow_rules.h"

namespace cudavision::opticalflow {

// The Scharr derivatives of a pixel.
struct alignas(4) ScharrGradient {
  std::int16_t x, y;
};

// The Scharr derivatives of four neighbouring pixels, each of which has one byte of every word: Ix is 256 * x_high +
// x_low, and all bytes are signed.
struct alignas(16) GradientBytes {
  unsigned x_high, x_low, y_high, y_low;
};

// Each level is padded, the picture by mirroring and the GradientBytes with zeros, so that windows are read without a
// test of bounds. The first column of a displaced window lies between -2 kMaxRadius - 3 and the width of the level
// (reaches_picture()), and its first row in the same way.
constexpr int kBorderLeft = 36, kBorderRight = 44, kBorderAbove = 36, kBorderBelow = 36;
static_assert(kBorderLeft % 4 == 0 && kBorderAbove % 2 == 0);

// A block works on kLevelX x kLevelY pixels of a level with its border: each thread on four pixels of a row. It
// computes a quarter as many pixels of the next level, one per thread and turn.
constexpr int kLevelX = 64, kLevelY = 16;
constexpr int kLevelThreads = kLevelX / 4 * kLevelY;

// The pixels of a block with a halo of two pixels: element [0][0] is two rows above and two columns left of the first
// pixel of the block.
struct LevelTile {
  alignas(4) std::uint8_t pixel[kLevelY + 4][kLevelX + 4];
  std::uint16_t sum[kLevelY + 4][kLevelX / 2];  // horizontally smoothed pixels, at most 16 * 255

  // The pixels of columns [x - 2, x + 6) of row y of the block, the first one in the lowest byte. x: a multiple of 4.
  __device__ unsigned long long around(int x, int y) const {
    const auto *words = reinterpret_cast<const unsigned *>(&pixel[y + 2][x]);
    return words[0] | static_cast<unsigned long long>(words[1]) << 32;
  }
};

// Loads the tile. A warp loads one row at a time.
__device__ inline void load_tile(ImageView<const std::uint8_t> level, int x0, int y0, LevelTile &tile) {
  constexpr int kWidth = kLevelX + 4, kHeight = kLevelY + 4, kTurns = (kWidth + 31) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int column[kTurns];
#pragma unroll
  for (int i = 0; i < kTurns; ++i) column[i] = mirror_index(x0 + lane + 32 * i - 2, level.width);
  for (int row = static_cast<int>(threadIdx.x) / 32; row < kHeight; row += kLevelThreads / 32) {
    const std::uint8_t *from = level.row(mirror_index(y0 + row - 2, level.height));
#pragma unroll
    for (int i = 0; i < kTurns; ++i)
      if (lane + 32 * i < kWidth) tile.pixel[row][lane + 32 * i] = from[column[i]];
  }
}

// The derivatives of four pixels.
struct FourGradients {
  ScharrGradient of[4];
};
// Computes the derivatives of pixels x to x + 3 of row y of the tile.
__device__ inline FourGradients gradients_of(const LevelTile &tile, int x, int y) {
  const unsigned long long above = tile.around(x, y - 1), here = tile.around(x, y),
                           below = tile.around(x, y + 1);
  const auto pixel = [](unsigned long long row, int i) { return static_cast<int>(row >> (8 * i) & 0xffu); };
  FourGradients found;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const auto across = [&](unsigned long long row) { return pixel(row, i + 3) - pixel(row, i + 1); };
    const auto down = [&](int column) { return pixel(below, column) - pixel(above, column); };
    found.of[i] = {static_cast<std::int16_t>(scharr(across(above), across(here), across(below))),
                   static_cast<std::int16_t>(scharr(down(i + 1), down(i + 2), down(i + 3)))};
  }
  return found;
}

__device__ inline GradientBytes bytes_of(const FourGradients &gradients) {
  GradientBytes bytes{};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    // Adds 128, so that 256 * high is the nearest multiple of 256, and the rest fits into a signed byte.
    const auto high = [i](int value) { return (static_cast<unsigned>(value + 128) >> 8 & 0xffu) << 8 * i; };
    const auto low = [i](int value) { return (static_cast<unsigned>(value) & 0xffu) << 8 * i; };
    bytes.x_high |= high(gradients.of[i].x), bytes.x_low |= low(gradients.of[i].x);
    bytes.y_high |= high(gradients.of[i].y), bytes.y_low |= low(gradients.of[i].y);
  }
  return bytes;
}

// The outputs of prepare_level_kernel. next: the next level; may be empty.
struct LevelOutput {
  ImageView<std::uint8_t> picture;  // with its border
  ImageView<ScharrGradient> gradient;
  ImageView<GradientBytes> bytes;  // with its border
  ImageView<std::uint8_t> next;
};

// Writes pixels x to x + 3 of row y of the picture: all of them if it is a copy of the level, otherwise only those in
// the border. is_inside: bit i is set if pixel x + i lies in the level.
__device__ inline void write_pixels(const ImageView<std::uint8_t> &picture, bool is_copy, int x, int y,
                                    unsigned pixels, unsigned is_inside) {
  std::uint8_t *to = picture.row(y) + x;
  const unsigned wanted = is_copy ? 0xfu : ~is_inside & 0xfu;
  if (wanted == 0xfu) {
    *reinterpret_cast<unsigned *>(to) = pixels;
  } else {
    for (int i = 0; i < 4; ++i)
      if ((wanted >> i & 1u) != 0) to[i] = static_cast<std::uint8_t>(pixels >> 8 * i);
  }
}
// Writes the derivatives of pixels x to x + 3 of row y. Pixels outside of the level are left out of output.gradient,
// and are zero in output.bytes.
__device__ inline void write_gradients(const LevelOutput &output, int x, int y, FourGradients gradients,
                                       unsigned is_inside) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if ((is_inside >> i & 1u) != 0)
      output.gradient.row(y)[x + i] = gradients.of[i];
    else
      gradients.of[i] = {0, 0};
  }
  output.bytes.row(y)[x / 4] = bytes_of(gradients);
}

// Computes the block's part of the next level; (x0, y0) is the block's first pixel.
__device__ inline void shrink(LevelTile &tile, int x0, int y0, const ImageView<std::uint8_t> &next) {
  constexpr int kHalfX = kLevelX / 2, kHalfY = kLevelY / 2;
  for (int i = static_cast<int>(threadIdx.x); i < (kLevelY + 4) * kHalfX; i += kLevelThreads) {
    const std::uint8_t *p = &tile.pixel[i / kHalfX][2 * (i % kHalfX)];
    tile.sum[i / kHalfX][i % kHalfX] = static_cast<std::uint16_t>(smooth_5(p[0], p[1], p[2], p[3], p[4]));
  }
  __syncthreads();
  static_assert(kHalfX * kHalfY == kLevelThreads);
  const int tx = static_cast<int>(threadIdx.x) % kHalfX, ty = static_cast<int>(threadIdx.x) / kHalfX;
  const int x = x0 / 2 + tx, y = y0 / 2 + ty;
  if (x < 0 || x >= next.width || y < 0 || y >= next.height) return;
  const auto s = [&](int k) { return static_cast<int>(tile.sum[2 * ty + k][tx]); };
  next.row(y)[x] = static_cast<std::uint8_t>((smooth_5(s(0), s(1), s(2), s(3), s(4)) + 128) >> 8);
}

// Computes the derivatives of a level and the next level, and writes the level into output.picture, which may be the
// level itself: then only its border is written.
static __global__ void __launch_bounds__(kLevelThreads)
    prepare_level_kernel(ImageView<const std::uint8_t> level, LevelOutput output) {
  wait_for_kernel_ahead();
  let_next_kernel_start();
  CUDAVISION_SHARED(LevelTile, tile);
  const int x0 = static_cast<int>(blockIdx.x) * kLevelX - kBorderLeft,
            y0 = static_cast<int>(blockIdx.y) * kLevelY - kBorderAbove;
  load_tile(level, x0, y0, tile);
  __syncthreads();

  constexpr int kFours = kLevelX / 4;
  const int tx = static_cast<int>(threadIdx.x) % kFours * 4, ty = static_cast<int>(threadIdx.x) / kFours;
  const int x = x0 + tx, y = y0 + ty;
  if (x < level.width + kBorderRight && y < level.height + kBorderBelow) {
    unsigned is_inside = 0;
    for (int i = 0; i < 4; ++i)
      is_inside |= unsigned{x + i >= 0 && x + i < level.width && y >= 0 && y < level.height} << i;
    write_pixels(output.picture, output.picture.data != level.data, x, y,
                 static_cast<unsigned>(tile.around(tx, ty) >> 16), is_inside);
    write_gradients(output, x, y, gradients_of(tile, tx, ty), is_inside);
  }
  if (output.next.data != nullptr) shrink(tile, x0, y0, output.next);  // the same for all threads
}

}  // namespace cudavision::opticalflow
