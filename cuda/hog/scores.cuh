// SPDX-License-Identifier: LGPL-2.1-or-later
// The scores of windows, computed as a matrix product without building the matrices. At each position of the
// grid, the descriptors of one row of a window's blocks are multiplied by the weights of all rows of the
// window at once. The score of a window is then the sum of one product for each of its rows.
#pragma once

#include "cuda/hog/device_levels.cuh"

namespace cudavision::hog {

constexpr int kRowsAtOnce = 16;       // rows of a window that a thread block handles
constexpr int kProductThreads = 128;  // each warp handles one row of the grid
constexpr int kPositions = 64;        // grid positions of a warp: two per lane

struct ProductTask {
  const DeviceLevel *levels;
  int level_count, length;
  const float *blocks;
  // [chunk of kRowsAtOnce rows][column of the window's blocks][number][row of the chunk]
  const float4 *weights;
  Size blocks_per_window, block_step;
  float *products;  // [row of a window][grid position]
  std::ptrdiff_t position_count;
};

// blockIdx.y: the chunk of rows.
static __global__ void __launch_bounds__(kProductThreads) multiply_rows_kernel(ProductTask task) {
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int block = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x) % 32;
  const DeviceLevel &level =
      level_of_block(task.levels, task.level_count, block, &DeviceLevel::first_product_block);
  const TiledPicture &picture = level.picture;
  const int tiles_x = divide_up(level.positions_x, kPositions), tile = block - level.first_product_block;
  const int tile_y = tile / tiles_x;
  const int row = tile_y * (kProductThreads / 32) + static_cast<int>(threadIdx.x) / 32;
  if (row >= picture.rows) return;
  const int x[2] = {(tile - tile_y * tiles_x) * kPositions + lane,
                    (tile - tile_y * tiles_x) * kPositions + lane + 32};
  const int last = level.positions_x - 1;
  const float *numbers[2] = {task.blocks + picture.place.offset(row, min(x[0], last)),
                             task.blocks + picture.place.offset(row, min(x[1], last))};
  const float4 *weights = task.weights + static_cast<std::ptrdiff_t>(blockIdx.y) *
                                             task.blocks_per_window.width * task.length * (kRowsAtOnce / 4);
  float sums[2][kRowsAtOnce] = {};
  for (int i = 0; i < task.blocks_per_window.width; ++i)
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
    if (first + j >= task.blocks_per_window.height) continue;
    float *out = task.products + (first + j) * task.position_count + level.positions +
                 static_cast<std::ptrdiff_t>(row) * level.positions_x;
    if (x[0] <= last) out[x[0]] = sums[0][j];
    if (x[1] <= last) out[x[1]] = sums[1][j];
  }
}

struct ScoreRules {
  const float *products;
  std::ptrdiff_t position_count;
  int rows;          // rows of blocks of a window
  int row_step;      // distance between these rows in rows of the grid
  Size window_step;  // distance between neighbouring windows in positions of the grid
  float bias;
};

// The score of the window in this row and column of a scale.
__device__ inline float score_of(const ScoreRules &rules, const DeviceLevel &level, int col, int row) {
  const float *product = rules.products + level.positions +
                         static_cast<std::ptrdiff_t>(row * rules.window_step.height) * level.positions_x +
                         col * rules.window_step.width;
  const std::ptrdiff_t next =
      rules.position_count + static_cast<std::ptrdiff_t>(rules.row_step) * level.positions_x;
  float score = rules.bias;
  for (int j = 0; j < rules.rows; ++j, product += next) score += *product;
  return score;
}

}  // namespace cudavision::hog
