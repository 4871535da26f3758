// SPDX-License-Identifier: LGPL-2.1-or-later
// The scales of a picture on the device. Each kernel of the detector processes all scales in one launch:
// every thread block finds the scale that it belongs to in a list.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda/common/resident_blocks.h"
#include "cuda/hog/block_tile.cuh"
#include "cuda/hog/hog_detector_rules.h"

namespace cudavision::hog {

// For the kernels whose threads process pixels or windows in row-major order.
constexpr int kLineThreads = 256;
constexpr int kLinePixels = 8;  // pixels per thread; of windows each thread processes one

// One scale.
struct DeviceLevel {
  double scale;
  TiledPicture picture;  // its blocks are planar: [row][number][col]
  // The indices of the first pixel, grid position and window of this scale in the arrays of all scales. The
  // grid is that of DetectionPlan.
  std::ptrdiff_t pixels, positions, windows;
  int taps_x, taps_y;           // the indices of its first taps
  int windows_x, window_count;  // windows in a row, and in total
  int positions_x;              // grid positions in a row where a window can begin
  // The index of its first thread block in the launch of the four kernels that call level_of_block().
  int first_downscale_block, first_tile_block, first_product_block, first_score_block;
};

// The scale that thread block `block` of a launch belongs to. first: the member that holds the first blocks
// of that launch.
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

// --- downscaled pictures ---

// A pixel of three channels: B in the lowest byte, then G and R.
template <int kChannels>
using PixelType = std::conditional_t<kChannels == 1, std::uint8_t, std::uint32_t>;

// Reads the pixels of a downscaled picture, channels in the order B, G, R.
template <int kChannels>
struct LevelSource {
  static constexpr int channels = kChannels;
  const PixelType<kChannels> *pixels;
  int width;

  __device__ unsigned pixel(int x, int y) const { return pixels[static_cast<std::ptrdiff_t>(y) * width + x]; }
  __device__ void load(int x, int y, int *bytes) const {
    const unsigned pixel = this->pixel(x, y);
    for (int c = 0; c < kChannels; ++c) bytes[c] = static_cast<int>(pixel >> (8 * c) & 255u);
  }
};

// Copies a frame of three channels to words, of which the next kernel loads four for each of its pixels.
// blockIdx.y: the row.
constexpr int kPackedPixels = 4;  // pixels per thread
static __global__ void __launch_bounds__(kLineThreads)
    pack_kernel(FrameSource<3> source, int width, std::uint32_t *pixels) {
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int first =
                static_cast<int>(blockIdx.x) * kPackedPixels * kLineThreads + static_cast<int>(threadIdx.x),
            y = static_cast<int>(blockIdx.y);
  unsigned packed[kPackedPixels];  // all loads are issued before the first result is used
#pragma unroll
  for (int i = 0; i < kPackedPixels; ++i)
    packed[i] = source.pixel(min(first + i * kLineThreads, width - 1), y);
#pragma unroll
  for (int i = 0; i < kPackedPixels; ++i)
    if (const int x = first + i * kLineThreads; x < width)
      pixels[static_cast<std::ptrdiff_t>(y) * width + x] = packed[i];
}

template <int kChannels>
struct DownscaleTask {
  std::conditional_t<kChannels == 1, FrameSource<1>, LevelSource<3>> source;
  Size size;  // of the source
  const DeviceLevel *levels;
  int level_count;
  const std::int32_t *taps;
  PixelType<kChannels> *pixels;
};

// The weighted sum of two pixels in 16 bits for each channel: those with an even number in the halves of a
// word, and the one between them. The weights add up to 256.
struct WideChannels {
  unsigned even, odd;
};
__device__ inline WideChannels blend(unsigned a, unsigned b, unsigned weight_a, unsigned weight_b) {
  constexpr unsigned kEven = 0xff00ff;
  return {(a & kEven) * weight_a + (b & kEven) * weight_b,
          (a >> 8 & 255) * weight_a + (b >> 8 & 255) * weight_b};
}

// Interpolates a pixel from its taps in integers, as cv::INTER_LINEAR_EXACT.
template <int kChannels>
__device__ unsigned downscaled_pixel(const DownscaleTask<kChannels> &task, std::int32_t tap_x,
                                     std::int32_t tap_y) {
  const int x0 = first_of_tap(tap_x), x1 = min(x0 + 1, task.size.width - 1), y0 = first_of_tap(tap_y),
            y1 = min(y0 + 1, task.size.height - 1);
  const auto weight_x = static_cast<unsigned>(weight_of_tap(tap_x)),
             weight_y = static_cast<unsigned>(weight_of_tap(tap_y));
  const WideChannels above = blend(task.source.pixel(x0, y0), task.source.pixel(x1, y0), 256 - weight_x,
                                   weight_x),
                     below = blend(task.source.pixel(x0, y1), task.source.pixel(x1, y1), 256 - weight_x,
                                   weight_x);
  const auto channel = [weight_y](unsigned upper, unsigned lower) {
    return (upper * (256 - weight_y) + lower * weight_y + 32768) >> 16;
  };
  unsigned pixel = channel(above.even & 0xffff, below.even & 0xffff);
  if constexpr (kChannels == 3)
    pixel |= channel(above.odd, below.odd) << 8 | channel(above.even >> 16, below.even >> 16) << 16;
  return pixel;
}

// Each thread block computes kLineThreads * kLinePixels pixels of a scale.
template <int kChannels>
static __global__ void __launch_bounds__(kLineThreads,
                                         resident_blocks(kLineThreads, kCompilesForHopper ? 6 : 4))
    downscale_kernel(DownscaleTask<kChannels> task) {
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int block = static_cast<int>(blockIdx.x);
  const DeviceLevel &level =
      level_of_block(task.levels, task.level_count, block, &DeviceLevel::first_downscale_block);
  const int width = level.picture.width, count = width * level.picture.height;
  const std::int32_t *taps_x = task.taps + level.taps_x, *taps_y = task.taps + level.taps_y;
  PixelType<kChannels> *out = task.pixels + level.pixels;
  int i = (block - level.first_downscale_block) * kLineThreads * kLinePixels + static_cast<int>(threadIdx.x);
  Walk<kLineThreads> at(width, i);
#pragma unroll
  for (int k = 0; k < kLinePixels; ++k, at.advance(), i += kLineThreads)
    if (i < count)
      out[i] = static_cast<PixelType<kChannels>>(downscaled_pixel(task, taps_x[at.column], taps_y[at.row]));
}

// --- blocks ---

template <int kChannels>
struct LevelBlocksTask {
  const DeviceLevel *levels;
  int level_count;
  const PixelType<kChannels> *pixels;
  Rules rules;
  TilePlan plan;
  DeviceWeights x_weights, y_weights;
  float *blocks;
};

// Each thread block computes one tile of the blocks of a scale. More than six tiles on a multiprocessor at once would
// spill registers.
template <bool kDefaultParams, int kChannels>
static __global__ void __launch_bounds__(kTileThreads, resident_blocks(kTileThreads, kDefaultParams ? 6 : 5))
    make_level_blocks_kernel(LevelBlocksTask<kChannels> task) {
  CUDAVISION_DYNAMIC_SHARED(float, shared);
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int block = static_cast<int>(blockIdx.x);
  const DeviceLevel &level =
      level_of_block(task.levels, task.level_count, block, &DeviceLevel::first_tile_block);
  const TiledPicture picture = level.picture;
  const LevelSource<kChannels> source{task.pixels + level.pixels, picture.width};
  make_tile<kDefaultParams>(source, picture, task.rules, task.plan, task.x_weights, task.y_weights,
                            block - level.first_tile_block, task.blocks, shared);
}

}  // namespace cudavision::hog
