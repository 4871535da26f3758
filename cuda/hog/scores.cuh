// SPDX-License-Identifier: LGPL-2.1-or-later
// The scores of windows: a product of matrices that are never laid out. For every place of the grid the
// blocks of one row of a window, which lie side by side, are multiplied with the weights of all rows at once;
// a window's score is the sum of one product of each of its rows.
#pragma once

#include "cuda/hog/device_levels.cuh"

namespace cudavision::hog {

constexpr int kRowsAtOnce = 16;                   // of a window
constexpr int kPlaceThreads = 128, kPlaces = 64;  // a warp has two places a lane, in one row of the grid

struct ProductTask {
  const DeviceLevel *levels;
  int level_count, length;
  const float *blocks;
  const float4 *weights;  // [column of the window's blocks][number][kRowsAtOnce rows], of each chunk of rows
  Size window_blocks, block_step;
  float *products;  // [row of a window][place]
  std::ptrdiff_t place_count;
};

__global__ void __launch_bounds__(kPlaceThreads) multiply_rows_kernel(ProductTask task) {
  wait_for_kernel_ahead();
  const int block = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x) % 32;
  const DeviceLevel &level = level_of_block(task.levels, task.level_count, block, &DeviceLevel::place_blocks);
  const TiledPicture &picture = level.picture;
  const int tiles_x = divide_up(level.places_x, kPlaces), tile = block - level.place_blocks;
  const int tile_y = tile / tiles_x;
  const int row = tile_y * (kPlaceThreads / 32) + static_cast<int>(threadIdx.x) / 32;
  if (row >= picture.rows) return;
  const int x[2] = {(tile - tile_y * tiles_x) * kPlaces + lane,
                    (tile - tile_y * tiles_x) * kPlaces + lane + 32};
  const int last = level.places_x - 1;
  const float *numbers[2] = {task.blocks + picture.place.offset(row, min(x[0], last)),
                             task.blocks + picture.place.offset(row, min(x[1], last))};
  const float4 *weights = task.weights + static_cast<std::ptrdiff_t>(blockIdx.y) * task.window_blocks.width *
                                             task.length * (kRowsAtOnce / 4);
  float sums[2][kRowsAtOnce] = {};
  for (int i = 0; i < task.window_blocks.width; ++i)
    for (int k = 0; k < task.length; ++k, weights += kRowsAtOnce / 4) {
      const std::ptrdiff_t at = i * task.block_step.width + k * picture.place.number_stride;
      const float a = numbers[0][at], b = numbers[1][at];
#pragma unroll
      for (int q = 0; q < kRowsAtOnce / 4; ++q) {
        const float4 w = __ldg(weights + q);
        sums[0][4 * q] = fmaf(a, w.x, sums[0][4 * q]), sums[1][4 * q] = fmaf(b, w.x, sums[1][4 * q]);
        sums[0][4 * q + 1] = fmaf(a, w.y, sums[0][4 * q + 1]),
                        sums[1][4 * q + 1] = fmaf(b, w.y, sums[1][4 * q + 1]);
        sums[0][4 * q + 2] = fmaf(a, w.z, sums[0][4 * q + 2]),
                        sums[1][4 * q + 2] = fmaf(b, w.z, sums[1][4 * q + 2]);
        sums[0][4 * q + 3] = fmaf(a, w.w, sums[0][4 * q + 3]),
                        sums[1][4 * q + 3] = fmaf(b, w.w, sums[1][4 * q + 3]);
      }
    }
  const int first = static_cast<int>(blockIdx.y) * kRowsAtOnce;
#pragma unroll
  for (int j = 0; j < kRowsAtOnce; ++j) {
    if (first + j >= task.window_blocks.height) continue;
    float *out = task.products + (first + j) * task.place_count + level.places +
                 static_cast<std::ptrdiff_t>(row) * level.places_x;
    if (x[0] <= last) out[x[0]] = sums[0][j];
    if (x[1] <= last) out[x[1]] = sums[1][j];
  }
}

// What a score is made of.
struct ScoreRules {
  const float *products;
  std::ptrdiff_t place_count;
  int rows;  // of a window's blocks
  int row_step;
  Size window_step;
  float bias;
};

__device__ inline float score_of(const ScoreRules &rules, const DeviceLevel &level, int col, int row) {
  const float *product = rules.products + level.places +
                         static_cast<std::ptrdiff_t>(row * rules.window_step.height) * level.places_x +
                         col * rules.window_step.width;
  const std::ptrdiff_t next =
      rules.place_count + static_cast<std::ptrdiff_t>(rules.row_step) * level.places_x;
  float score = rules.bias;
  for (int j = 0; j < rules.rows; ++j, product += next) score += *product;
  return score;
}

}  // namespace cudavision::hog
