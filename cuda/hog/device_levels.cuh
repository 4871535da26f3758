// SPDX-License-Identifier: LGPL-2.1-or-later
// All scales of a picture at once: every kernel of the detector runs over a list of them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda/hog/block_tile.cuh"
#include "cuda/hog/detector_rules.h"

namespace cudavision::hog {

constexpr int kLineThreads = 256;  // of the kernels that go through pixels or windows in their order
constexpr int kLinePixels = 4;     // that a thread shrinks; windows it has one

// One scale: sizes, where its parts begin in the arrays of all scales, and the first of its blocks in each
// launch.
struct DeviceLevel {
  double scale;
  TiledPicture picture;  // places: planar, [row][number][col]
  std::ptrdiff_t pixels, places, windows;
  int taps_x, taps_y;
  int windows_x, window_count;
  int places_x;  // of the grid where windows can begin, in a row
  int pixel_blocks, tile_blocks, place_blocks, window_blocks;
};

// The level that block `block` of a launch works on; first: the member that counts that launch's blocks.
__device__ inline const DeviceLevel &level_of_block(const DeviceLevel *levels, int count, int block,
                                                    int DeviceLevel::*first) {
  int low = 0, high = count - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (levels[middle].*first <= block)
      low = middle;
    else
      high = middle - 1;
  }
  return levels[low];
}

// --- shrunk pictures ---

template <int kChannels>
struct PixelOf {
  using Type = std::uint32_t;  // B, G, R in the lowest bytes
};
template <>
struct PixelOf<1> {
  using Type = std::uint8_t;
};

template <int kChannels>
struct LevelSource {
  static constexpr int channels = kChannels;
  const typename PixelOf<kChannels>::Type *pixels;
  int width;

  __device__ void load(int x, int y, int *bytes) const {
    const unsigned pixel = pixels[static_cast<std::ptrdiff_t>(y) * width + x];
    for (int c = 0; c < kChannels; ++c) bytes[c] = static_cast<int>(pixel >> (8 * c) & 255u);
  }
};

template <int kChannels>
struct ShrinkTask {
  FrameSource<kChannels> source;
  Size size;
  const DeviceLevel *levels;
  int level_count;
  const std::int32_t *taps;
  typename PixelOf<kChannels>::Type *pixels;
};

// A pixel of a scale from its taps: cv::INTER_LINEAR_EXACT in whole numbers.
template <int kChannels>
__device__ unsigned shrunk_pixel(const ShrinkTask<kChannels> &task, std::int32_t tap_x, std::int32_t tap_y) {
  const int x0 = first_of_tap(tap_x), x1 = min(x0 + 1, task.size.width - 1), share_x = share_of_tap(tap_x);
  const int y0 = first_of_tap(tap_y), y1 = min(y0 + 1, task.size.height - 1), share_y = share_of_tap(tap_y);
  int corner[4][3];
  task.source.load(x0, y0, corner[0]), task.source.load(x1, y0, corner[1]);
  task.source.load(x0, y1, corner[2]), task.source.load(x1, y1, corner[3]);
  unsigned pixel = 0;
  for (int c = 0; c < kChannels; ++c) {
    const int above = corner[0][c] * (256 - share_x) + corner[1][c] * share_x,
              below = corner[2][c] * (256 - share_x) + corner[3][c] * share_x;
    pixel |= static_cast<unsigned>((above * (256 - share_y) + below * share_y + 32768) >> 16) << (8 * c);
  }
  return pixel;
}

// A block of threads for kLineThreads * kLinePixels pixels of a scale.
template <int kChannels>
__global__ void __launch_bounds__(kLineThreads, 4) shrink_kernel(ShrinkTask<kChannels> task) {
  wait_for_kernel_ahead();
  const int block = static_cast<int>(blockIdx.x);
  const DeviceLevel &level = level_of_block(task.levels, task.level_count, block, &DeviceLevel::pixel_blocks);
  const int width = level.picture.width, count = width * level.picture.height;
  const std::int32_t *taps_x = task.taps + level.taps_x, *taps_y = task.taps + level.taps_y;
  typename PixelOf<kChannels>::Type *out = task.pixels + level.pixels;
  int i = (block - level.pixel_blocks) * kLineThreads * kLinePixels + static_cast<int>(threadIdx.x);
  Walk<kLineThreads> at(width, i);
#pragma unroll
  for (int k = 0; k < kLinePixels; ++k, at.advance(), i += kLineThreads)
    if (i < count)
      out[i] = static_cast<typename PixelOf<kChannels>::Type>(
          shrunk_pixel(task, taps_x[at.column], taps_y[at.row]));
}

// --- blocks ---

template <int kChannels>
struct LevelBlocksTask {
  const DeviceLevel *levels;
  int level_count;
  const typename PixelOf<kChannels>::Type *pixels;
  Rules rules;
  TilePlan plan;
  DeviceWeights x_weights, y_weights;
  float *blocks;
};

template <bool kUsual, int kChannels>
__global__ void __launch_bounds__(kTileThreads, 5) make_level_blocks_kernel(LevelBlocksTask<kChannels> task) {
  CUDAVISION_DYNAMIC_SHARED(float, shared);
  wait_for_kernel_ahead();
  const int block = static_cast<int>(blockIdx.x);
  const DeviceLevel &level = level_of_block(task.levels, task.level_count, block, &DeviceLevel::tile_blocks);
  const TiledPicture picture = level.picture;
  const LevelSource<kChannels> source{task.pixels + level.pixels, picture.width};
  make_tile<kUsual>(source, picture, task.rules, task.plan, task.x_weights, task.y_weights,
                    block - level.tile_blocks, task.blocks, shared);
}

}  // namespace cudavision::hog
