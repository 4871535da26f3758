// SPDX-License-Identifier: LGPL-2.1-or-later
// The scores of windows, computed as a matrix product without building the matrices. At each position of the
// grid, the descriptors of one row of a window's blocks are multiplied by the weights of all rows of the
// window at once. The score of a window is then the sum of one product for each of its rows.
#pragma once

#include "cuda/hog/device_levels.cuh"

namespace cudavision::hog {

constexpr int kRowsAtOnce = 16;  // rows of a window that a thread block handles
constexpr int kProductThreads = 128;
// A warp handles kGridRows rows of kPositions positions of the grid; each lane has two positions in each row. The more
// of them a lane has, the fewer times it loads the weights; the fewer, the better the last wave fills the device.
constexpr int kGridRows = 1, kPositions = 64;
constexpr int kGridRowsOfBlock = kProductThreads / 32 * kGridRows;

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
static __global__ void __launch_bounds__(kProductThreads, 6) multiply_rows_kernel(ProductTask task) {
  constexpr int kOfLane = 2 * kGridRows;
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int block = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x) % 32;
  const DeviceLevel &level =
      level_of_block(task.levels, task.level_count, block, &DeviceLevel::first_product_block);
  const TiledPicture &picture = level.picture;
  const int tiles_x = divide_up(level.positions_x, kPositions), tile = block - level.first_product_block;
  const int tile_y = tile / tiles_x, first_x = (tile - tile_y * tiles_x) * kPositions + lane;
  const int first_y = tile_y * kGridRowsOfBlock + static_cast<int>(threadIdx.x) / 32 * kGridRows;
  if (first_y >= picture.rows) return;
  const int last_x = level.positions_x - 1, last_y = picture.rows - 1;
  const float *numbers[kOfLane];
#pragma unroll
  for (int p = 0; p < kOfLane; ++p)  // positions outside the grid repeat the last one
    numbers[p] =
        task.blocks + picture.place.offset(min(first_y + p / 2, last_y), min(first_x + p % 2 * 32, last_x));
  const float4 *weights = task.weights + static_cast<std::ptrdiff_t>(blockIdx.y) *
                                             task.blocks_per_window.width * task.length * (kRowsAtOnce / 4);
  float sums[kOfLane][kRowsAtOnce] = {};
  for (int i = 0; i < task.blocks_per_window.width; ++i)
    for (int k = 0; k < task.length; ++k, weights += kRowsAtOnce / 4) {
      const std::ptrdiff_t at = i * task.block_step.width + k * picture.place.number_stride;
      float number[kOfLane];
#pragma unroll
      for (int p = 0; p < kOfLane; ++p) number[p] = numbers[p][at];
#pragma unroll
      for (int q = 0; q < kRowsAtOnce / 4; ++q) {
        const float4 w = __ldg(weights + q);
#pragma unroll
        for (int p = 0; p < kOfLane; ++p) {
          sums[p][4 * q] = fmaf(number[p], w.x, sums[p][4 * q]);
          sums[p][4 * q + 1] = fmaf(number[p], w.y, sums[p][4 * q + 1]);
          sums[p][4 * q + 2] = fmaf(number[p], w.z, sums[p][4 * q + 2]);
          sums[p][4 * q + 3] = fmaf(number[p], w.w, sums[p][4 * q + 3]);
        }
      }
    }
  const int first = static_cast<int>(blockIdx.y) * kRowsAtOnce;
#pragma unroll
  for (int p = 0; p < kOfLane; ++p) {
    const int x = first_x + p % 2 * 32, y = first_y + p / 2;
    if (x > last_x || y > last_y) continue;
    float *out = task.products + first * task.position_count + level.positions +
                 static_cast<std::ptrdiff_t>(y) * level.positions_x + x;
#pragma unroll
    for (int j = 0; j < kRowsAtOnce; ++j)
      if (first + j < task.blocks_per_window.height) out[j * task.position_count] = sums[p][j];
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
