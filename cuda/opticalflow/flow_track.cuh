// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels of OpticalFlowMethod::plain and cells for one level. With a vector at every pixel a block works
// on a tile in shared memory; with fewer vectors the windows share few pixels, and a thread (plain) or a warp
// (cells, boxes) reads those of a vector from global memory.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/launch.h"
#include "cuda/opticalflow/flow_leftovers.cuh"
#include "cuda/opticalflow/flow_window.cuh"

namespace cudavision::opticalflow {

// The pixels of a block, one per thread.
constexpr int kTileX = 32, kTileY = 8;
constexpr int kTrackThreads = kTileX * kTileY;
// The tile of J in shared memory serves displacements that differ by at most this many pixels from the
// displacement of the tile's middle; others read global memory.
constexpr int kMargin = 4;

constexpr int kWindowX = kTileX + 2 * kMaxRadius, kWindowY = kTileY + 2 * kMaxRadius;
constexpr int kMovedX = kWindowX + 1 + 2 * kMargin, kMovedY = kWindowY + 1 + 2 * kMargin;

struct WindowTile {
  ScharrGradient gradient[kWindowY][kWindowX];  // zero outside the picture
  std::uint8_t from[kWindowY][kWindowX + 2];    // padded to whole words
  union {
    int row_sum[3][kWindowY][kTileX];
    std::uint8_t to[kMovedY][kMovedX + 1];
  };
  int middle_x, middle_y;  // floor(d) of the tile's middle pixel before the first step
};

__device__ inline void load_window_tile(const DeviceWork &work, const PixelRect &b, WindowTile &tile) {
  const int width = b.x1 - b.x0, height = b.y1 - b.y0;
  for (int i = static_cast<int>(threadIdx.x); i < width * height; i += kTrackThreads) {
    const int tx = i % width, ty = i / width, x = b.x0 + tx, y = b.y0 + ty;
    const bool inside = x >= 0 && y >= 0 && x < work.from.width && y < work.from.height;
    tile.gradient[ty][tx] = inside ? work.gradient.row(y)[x] : ScharrGradient{0, 0};
    tile.from[ty][tx] = inside ? work.from.row(y)[x] : std::uint8_t{0};
  }
}

__device__ inline void load_moved_tile(ImageView<const std::uint8_t> to, const PixelRect &b,
                                       WindowTile &tile) {
  const int width = b.x1 - b.x0, height = b.y1 - b.y0;
  for (int i = static_cast<int>(threadIdx.x); i < width * height; i += kTrackThreads)
    tile.to[i / width][i % width] =
        to.row(mirror_index(b.y0 + i / width, to.height))[mirror_index(b.x0 + i % width, to.width)];
}

// Sums `count` products over the window of each pixel of the tile: first along rows into shared memory, then
// each thread down its column. products(gradient, pixel, out) computes the products of one pixel. All threads
// of the block must call this. The sum of a row is less than 31 * 4080^2 < 2^31.
template <int count, typename Products>
__device__ inline void sum_windows(WindowTile &tile, int window, const Products &products,
                                   long long (&sums)[count]) {
  const int rows = kTileY + window - 1;
  for (int i = static_cast<int>(threadIdx.x); i < rows * kTileX; i += kTrackThreads) {
    const int tx = i % kTileX, ty = i / kTileX;
    int row[count] = {};
    for (int k = 0; k < window; ++k) {
      int product[count];
      products(tile.gradient[ty][tx + k], static_cast<int>(tile.from[ty][tx + k]), product);
      for (int c = 0; c < count; ++c) row[c] += product[c];
    }
    for (int c = 0; c < count; ++c) tile.row_sum[c][ty][tx] = row[c];
  }
  __syncthreads();
  const int tx = static_cast<int>(threadIdx.x) % kTileX, ty = static_cast<int>(threadIdx.x) / kTileX;
  for (int c = 0; c < count; ++c) sums[c] = 0;
  for (int k = 0; k < window; ++k)
    for (int c = 0; c < count; ++c) sums[c] += tile.row_sum[c][ty + k][tx];
  __syncthreads();
}

// The products for the structure tensor.
__device__ inline void gradient_products(const ScharrGradient &g, int, int (&out)[3]) {
  out[0] = g.x * g.x, out[1] = g.x * g.y, out[2] = g.y * g.y;
}
// The products for the sum of (Ix, Iy) I.
__device__ inline void pixel_products(const ScharrGradient &g, int pixel, int (&out)[2]) {
  out[0] = g.x * pixel, out[1] = g.y * pixel;
}

// Stride 1: one thread per pixel of the level.
template <OpticalFlowMethod method>
static __global__ void __launch_bounds__(kTrackThreads, 3)
    track_pixels_kernel(const __grid_constant__ DeviceWork work) {
  wait_for_kernel_ahead();
  let_next_kernel_start();
  __shared__ WindowTile tile;
  const int thread = static_cast<int>(threadIdx.x), window = work.rules.window, radius = window / 2;
  const int x0 = static_cast<int>(blockIdx.x) * kTileX, y0 = static_cast<int>(blockIdx.y) * kTileY;
  const Size size = work.fine.size;
  const Place place{x0 + thread % kTileX, y0 + thread / kTileX, size};
  const bool inside = place.x < size.width && place.y < size.height;
  const PixelRect around{x0 - radius, y0 - radius, x0 + kTileX + radius, y0 + kTileY + radius};

  load_window_tile(work, around, tile);
  const FlowVector start = inside ? start_of(work.coarse, place.x, place.y) : FlowVector{};
  const int middle_x = min(x0 + kTileX / 2, size.width - 1), middle_y = min(y0 + kTileY / 2, size.height - 1);
  if (place.x == middle_x && place.y == middle_y) {
    const DisplacementCell cell = reaches_picture(place, start, window) ? cell_of(start) : DisplacementCell{};
    tile.middle_x = cell.x, tile.middle_y = cell.y;
  }
  __syncthreads();

  long long squares[3], weighed[2];
  sum_windows(tile, window, gradient_products, squares);
  sum_windows(tile, window, pixel_products, weighed);
  const PixelRect moved{around.x0 + tile.middle_x - kMargin, around.y0 + tile.middle_y - kMargin,
                        around.x1 + tile.middle_x + kMargin + 1, around.y1 + tile.middle_y + kMargin + 1};
  load_moved_tile(work.to, moved, tile);
  __syncthreads();
  if (!inside) return;
  store(work, place.x, place.y,
        track_window<method>(work, place, {scaled(squares[0]), scaled(squares[1]), scaled(squares[2])},
                             {static_cast<int>(weighed[0]), static_cast<int>(weighed[1])}, start,
                             {&tile.gradient[0][0], kWindowX, around},
                             {&tile.from[0][0], kWindowX + 2, around}, {&tile.to[0][0], kMovedX + 1, moved}));
}

// Strides of 2 and more, OpticalFlowMethod::plain: one thread per vector, because the floats must be added in
// order.
static __global__ void __launch_bounds__(kTrackThreads, 3)
    track_grid_plainly_kernel(const __grid_constant__ DeviceWork work) {
  wait_for_kernel_ahead();
  let_next_kernel_start();
  const int column = static_cast<int>(blockIdx.x) * kTileX + static_cast<int>(threadIdx.x) % kTileX;
  const int row = static_cast<int>(blockIdx.y) * kTileY + static_cast<int>(threadIdx.x) / kTileX;
  if (column >= work.fine.vectors.width || row >= work.fine.vectors.height) return;
  const Place place{column * work.fine.stride, row * work.fine.stride, work.fine.size};
  const PixelRect window = window_in(place, work.rules.window);
  const Patch<ScharrGradient> gradient = whole(work.gradient);
  long long xx = 0, xy = 0, yy = 0;
  for (int y = window.y0; y < window.y1; ++y) {
    int squares[3] = {};
    for (int x = window.x0; x < window.x1; ++x) {
      int product[3];
      gradient_products(gradient.row(y)[x], 0, product);
      for (int c = 0; c < 3; ++c) squares[c] += product[c];
    }
    xx += squares[0], xy += squares[1], yy += squares[2];
  }
  store(work, column, row,
        track_window<OpticalFlowMethod::plain>(work, place, {scaled(xx), scaled(xy), scaled(yy)}, {},
                                               start_of(work.coarse, place.x, place.y), gradient,
                                               whole(work.from), {nullptr, 0, {}}));
}

// Few, so that the shared memory of kPixels vectors per warp is small enough.
constexpr int kGridThreads = 64;

// Strides of 2 and more, and small levels, the other methods: kPixels vectors per warp.
template <int kSteps, int kWindow, int kPixels>
static __global__ void __launch_bounds__(kGridThreads, resident_warps(kSteps) / (kGridThreads / 32))
    track_grid_kernel(const __grid_constant__ DeviceWork work) {
  using Warp = WarpTracker<kSteps, kWindow, kPixels>;
  __shared__ typename Warp::Storage storage[kGridThreads / 32];
  const ImageView<FlowVector> &vectors = work.fine.vectors;
  const int thread = static_cast<int>(blockIdx.x) * kGridThreads + static_cast<int>(threadIdx.x),
            count = vectors.width * vectors.height;
  // The lanes of the last warp that have no vector repeat the last one.
  const int i = thread / Warp::kGroup, row = min(i, count - 1) / vectors.width,
            column = min(i, count - 1) - row * vectors.width;
  const Place place{column * work.fine.stride, row * work.fine.stride, work.fine.size};
  // As in track_tiles_kernel: the derivatives are there before the kernel ahead has finished.
  const bool is_coarsest = work.coarse.vectors.data == nullptr;
  if (is_coarsest) wait_for_kernel_ahead();
  Warp warp(work, &storage[threadIdx.x / 32]);
  warp.load(place.x, place.y);
  const StartSums at_start = warp.start();
  wait_for_kernel_ahead();
  let_next_kernel_start();
  const FlowVector start = start_of(work.coarse, place.x, place.y);
  const Tracker found =
      warp.finish(start_tracking(place, rules_of<kWindow>(work), at_start.tensor, start), at_start.from);
  if (i < count && threadIdx.x % Warp::kGroup == 0) store(work, column, row, found);
}

// The forward-backward check: marks the vectors that do not come back as invalid.
static __global__ void __launch_bounds__(kTrackThreads, 3)
    check_way_back_kernel(ImageView<const FlowVector> flow, int stride, ImageView<const FlowVector> back,
                          float distance, ImageView<std::uint8_t> valid) {
  wait_for_kernel_ahead();
  let_next_kernel_start();
  const int column = static_cast<int>(blockIdx.x) * kTileX + static_cast<int>(threadIdx.x) % kTileX;
  const int row = static_cast<int>(blockIdx.y) * kTileY + static_cast<int>(threadIdx.x) / kTileX;
  if (column >= flow.width || row >= flow.height) return;
  if (!comes_back(column * stride, row * stride, flow.row(row)[column], back, distance))
    valid.row(row)[column] = 0;
}

}  // namespace cudavision::opticalflow
