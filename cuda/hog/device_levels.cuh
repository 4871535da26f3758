// SPDX-License-Identifier: LGPL-2.1-or-later
// The scales of a picture on the device. Each kernel of the detector processes all scales in one launch:
// every thread block finds the scale that it belongs to in a list.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda/common/dot.cuh"
#include "cuda/common/resident_blocks.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/hog/block_tile.cuh"
#include "cuda/hog/hog_detector_rules.h"

namespace cudavision::hog {

// The threads per block of the kernels that process pixels or windows.
constexpr int kLineThreads = 256;

// A scale of the picture, and where its data begin in the arrays of all scales.
struct DeviceLevel {
  double scale;
  TiledPicture picture;  // its blocks are planar: [number][grid position], positions in row-major order
  // The indices of the first pixel, grid position and window of this scale in the arrays of all scales. The
  // grid is that of DetectionPlan.
  std::ptrdiff_t pixels, positions, windows;
  int taps_x, taps_y;           // the indices of its first taps in the array of all taps
  int windows_x, window_count;  // windows in a row, and in total
  // The index of its first thread block in the launch of each of the four kernels that call level_of_block().
  int first_scale_block, first_tile_block, first_product_block, first_score_block;
};

// Returns the scale that thread block `block` of a launch works on. first: the member with the first blocks of this
// launch. All lanes of a warp must call this function: they look at 32 scales at a time, with one wait for memory.
__device__ inline const DeviceLevel &level_of_block(const DeviceLevel *levels, int count, int block,
                                                    int DeviceLevel::*first) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int begun = 0;  // scales that begin at this block or before it
#pragma unroll 1
  for (int i = 0; i < count; i += 32)
    begun += __popc(__ballot_sync(kFullWarp, i + lane < count && levels[i + lane].*first <= block));
  return levels[begun - 1];
}

// --- where windows are searched ---

struct Search {
  Places places;
  Size window;     // pixels of a scale
  int win_stride;  // pixels of a scale
  GridSteps grid;

  // The windows of a scale that are searched because of region i.
  __device__ Region windows(const DeviceLevel &level, int i) const {
    return windows_of_region(level.scale, window, win_stride,
                             {level.windows_x, level.window_count / level.windows_x}, places.region[i]);
  }
};

// Whether a thread block has work: whether needs(windows) is true for the windows of at least one searched region, at
// the block's scale. All lanes of a warp must call this function: each checks one region. A thread block without work
// must call wait_for_kernel_ahead() nevertheless, so that kernels still end in their order.
template <typename Needs>
__device__ bool has_work(const Search &search, const DeviceLevel &level, const Needs &needs) {
  static_assert(Places::kMostRegions <= 32);
  if (search.places.everywhere()) return true;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  bool is_needed = false;
  if (lane < search.places.count) {
    const Region windows = search.windows(level, lane);
    is_needed = !is_empty(windows) && needs(windows);
  }
  return __any_sync(kFullWarp, is_needed);
}

// --- scaled pictures ---

// A pixel: one byte, or, with three channels, a word with B in the lowest byte, then G and R.
template <int kChannels>
using PixelType = std::conditional_t<kChannels == 1, std::uint8_t, std::uint32_t>;

// Reads the pixels of a scaled picture, channels in the order B, G, R.
template <int kChannels>
struct LevelSource {
  static constexpr int channels = kChannels;
  const PixelType<kChannels> *pixels;
  int width;

  __device__ unsigned pixel(int x, int y) const { return pixels[static_cast<unsigned>(y * width + x)]; }
  struct Pixel {
    unsigned word;

    __device__ int byte(int channel) const { return static_cast<int>(word >> (8 * channel) & 255u); }
  };
  __device__ Pixel fetch(int x, int y) const { return {pixel(x, y)}; }
  // Loads pixels x and x + 1 of rows y and y + 1. Pixels beyond the right or the lower border must not be used.
  __device__ void square(int x, int y, unsigned (&pixels_of)[4]) const {
    const PixelType<kChannels> *above = pixels + x + static_cast<std::ptrdiff_t>(y) * width,
                               *below = above + width;
    pixels_of[0] = above[0], pixels_of[1] = above[1], pixels_of[2] = below[0], pixels_of[3] = below[1];
  }
};

// Packs the three channels of each pixel of a frame into a word, because scale_kernel loads four pixels for each
// pixel that it computes. blockIdx.y: the row.
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
struct ScaleTask {
  std::conditional_t<kChannels == 1, FrameSource<1>, LevelSource<3>> source;
  Size size;  // of the source
  const DeviceLevel *levels;
  int level_count;
  const std::int32_t *taps;
  PixelType<kChannels> *pixels;
  Search search;
};

// Interpolates along x between pixels a and b. weights: the weight of a in the lower half of the word, the weight of b
// in the upper half; they add up to 256. sums: the result for each channel.
template <int kChannels>
__device__ void blend(unsigned a, unsigned b, unsigned weights, int (&sums)[kChannels]) {
  if constexpr (kChannels == 1) {
    sums[0] = dot_of_low_bytes(weights, a | b << 8, 0);
  } else {
    const unsigned blue_green = __byte_perm(a, b, 0x5140), red = __byte_perm(a, b, 0x0062);
    sums[0] = dot_of_low_bytes(weights, blue_green, 0);
    sums[1] = dot_of_high_bytes(weights, blue_green, 0);
    sums[2] = dot_of_low_bytes(weights, red, 0);
  }
}

// Loads the four source pixels between which a pixel is interpolated. Pixels beyond the last row or column have the
// weight 0, but are loaded, too: the packed picture has memory behind it for this purpose; with one channel, the source
// is the caller's frame, of which the last row or column is loaded again.
__device__ inline void load_square(const ScaleTask<3> &task, int x, int y, unsigned (&pixels)[4]) {
  task.source.square(x, y, pixels);
}
__device__ inline void load_square(const ScaleTask<1> &task, int x, int y, unsigned (&pixels)[4]) {
  const int right = min(x + 1, task.size.width - 1), below = min(y + 1, task.size.height - 1);
  pixels[0] = task.source.pixel(x, y), pixels[1] = task.source.pixel(right, y);
  pixels[2] = task.source.pixel(x, below), pixels[3] = task.source.pixel(right, below);
}

// Interpolates a pixel in integers, as cv::INTER_LINEAR_EXACT does. weights_x: see blend(); weight: of the lower row.
template <int kChannels>
__device__ unsigned interpolated(const unsigned (&pixels)[4], unsigned weights_x, int weight) {
  int above[kChannels], below[kChannels];
  blend<kChannels>(pixels[0], pixels[1], weights_x, above);
  blend<kChannels>(pixels[2], pixels[3], weights_x, below);
  unsigned channel[kChannels];  // in bits 16 to 23
#pragma unroll
  for (int c = 0; c < kChannels; ++c)
    channel[c] = static_cast<unsigned>(above[c] * (256 - weight) + (below[c] * weight + 32768));
  if constexpr (kChannels == 1)
    return channel[0] >> 16;
  else
    return __byte_perm(__byte_perm(channel[0], channel[1], 0x0062), channel[2], 0x7610);
}

// A thread block computes a tile of a scale; a thread computes kLinePixels pixels of a column, and so needs one tap (a
// source index and a weight) along x. All lanes of a warp need the same taps along y: each loads one of them.
constexpr Size kScaleTile{64, 64};
constexpr int kLinePixels = kScaleTile.width * kScaleTile.height / kLineThreads;
static_assert(32 % kLinePixels == 0 && kScaleTile.width % 32 == 0);
CUDAVISION_HOST_DEVICE inline int scale_tiles_x(int width) { return divide_up(width, kScaleTile.width); }

template <int kChannels>
static __global__ void __launch_bounds__(kLineThreads,
                                         resident_blocks(kLineThreads, kCompilesForHopper ? 6 : 4))
    scale_kernel(ScaleTask<kChannels> task) {
  constexpr int kAtOnce = 4;  // pixels whose loads are issued before the first result is used
  let_next_kernel_start();
  const DeviceLevel &level = level_of_block(task.levels, task.level_count, static_cast<int>(blockIdx.x),
                                            &DeviceLevel::first_scale_block);
  const int width = level.picture.width, height = level.picture.height, tiles_x = scale_tiles_x(width),
            tile = static_cast<int>(blockIdx.x) - level.first_scale_block, tile_y = tile / tiles_x,
            thread = static_cast<int>(threadIdx.x);
  const int x = (tile - tile_y * tiles_x) * kScaleTile.width + thread % kScaleTile.width,
            first_y = tile_y * kScaleTile.height + thread / kScaleTile.width * kLinePixels;
  const Region pixels_of_tile{(tile - tile_y * tiles_x) * kScaleTile.width, tile_y * kScaleTile.height,
                              kScaleTile.width, kScaleTile.height};
  if (!has_work(task.search, level, [&](const Region &windows) {
        const GridSteps &grid = task.search.grid;
        return overlap(pixels_of_tile, pixels_of_blocks(grid, blocks_of_windows(grid, windows)));
      }))
    return wait_for_kernel_ahead();
  if (first_y >= height) return;  // true for all lanes of a warp or for none
  const std::int32_t tap_x = task.taps[level.taps_x + min(x, width - 1)],
                     tap_of_lane = task.taps[level.taps_y + min(first_y + thread % kLinePixels, height - 1)];
  const int x0 = first_of_tap(tap_x), pixels = min(height - first_y, x < width ? kLinePixels : 0);
  const unsigned weight_x = static_cast<unsigned>(weight_of_tap(tap_x)),
                 weights_x = (256 - weight_x) | weight_x << 16;
  PixelType<kChannels> *out = task.pixels + level.pixels + static_cast<std::ptrdiff_t>(first_y) * width + x;
  wait_for_kernel_ahead();
#pragma unroll 1
  for (int first = 0; first < kLinePixels; first += kAtOnce) {
    unsigned squares[kAtOnce][4];
    int weights[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {  // rows below the picture repeat the last one
      const std::int32_t tap = __shfl_sync(kFullWarp, tap_of_lane, first + i);
      weights[i] = weight_of_tap(tap);
      load_square(task, x0, first_of_tap(tap), squares[i]);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i, out += width)
      if (const unsigned pixel = interpolated<kChannels>(squares[i], weights_x, weights[i]);
          first + i < pixels)
        *out = static_cast<PixelType<kChannels>>(pixel);
  }
}

// --- blocks ---

template <int kChannels>
struct LevelBlocksTask {
  const DeviceLevel *levels;
  int level_count;
  const PixelType<kChannels> *pixels;
  Rules rules;
  TilePlan plan;
  AxisWeights weights;
  float *blocks;
  Search search;
};

// Each thread block computes one tile of the blocks of a scale. The level stays in global memory, to save registers.
template <bool kDefaultParams, int kChannels>
static __global__ void __launch_bounds__(kTileThreads,
                                         resident_blocks(kTileThreads, level_tiles_at_once(kDefaultParams)))
    make_level_blocks_kernel(LevelBlocksTask<kChannels> task) {
  CUDAVISION_DYNAMIC_SHARED(float, shared);
  let_next_kernel_start();
  const int block = static_cast<int>(blockIdx.x);
  const DeviceLevel &level =
      level_of_block(task.levels, task.level_count, block, &DeviceLevel::first_tile_block);
  const TiledPicture &picture = level.picture;
  const int tile = block - level.first_tile_block, tile_y = tile / picture.tiles_x;
  const Region blocks_of_tile{(tile - tile_y * picture.tiles_x) << task.plan.cols_log2,
                              tile_y * task.plan.rows, 1 << task.plan.cols_log2, task.plan.rows};
  if (!has_work(task.search, level, [&](const Region &windows) {
        return overlap(blocks_of_tile, blocks_of_windows(task.search.grid, windows));
      }))
    return wait_for_kernel_ahead();
  const LevelSource<kChannels> source{task.pixels + level.pixels, picture.width};
  make_tile<kDefaultParams>(source, picture, task.rules, task.plan, task.weights, tile, task.blocks, shared,
                            [] { wait_for_kernel_ahead(); });
}

}  // namespace cudavision::hog
