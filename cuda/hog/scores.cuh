// SPDX-License-Identifier: LGPL-2.1-or-later
// The scores of windows, computed as a matrix product without building the matrices. At each position of the
// grid, the descriptors of one row of a window's blocks are multiplied by the weights of all rows of the
// window at once. The score of a window is then the sum of one product for each of its rows.
#pragma once

#include "cuda/common/dynamic_shared.cuh"
#include "cuda/hog/device_levels.cuh"

namespace cudavision::hog {

constexpr int kRowsAtOnce = 16;  // rows of a window that a thread block handles
// A thread block handles successive positions of the grid, row after row. Each lane has kOfLane of them, 32 apart. The
// more it has, the fewer times it loads the weights, which is what limits a large picture; the fewer, the more warps
// there are for a small one.
constexpr int kProductPositions = 256, kManyPositions = 4, kFewPositions = 2;
CUDAVISION_HOST_DEVICE constexpr int product_threads(int of_lane) { return kProductPositions / of_lane; }

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

// The positions whose numbers a thread block needs, rounded up to whole float4: its own and those of the other blocks in
// a row of the last window.
CUDAVISION_HOST_DEVICE inline int staged_positions(int blocks_across, int block_step) {
  return divide_up(kProductPositions + (blocks_across - 1) * block_step, 4) * 4;
}
// The number of the weights of kRowsAtOnce rows of a window.
CUDAVISION_HOST_DEVICE inline int weights_of_rows(const ProductTask &task) {
  return task.blocks_per_window.width * task.length * kRowsAtOnce;
}
// The shared memory of a thread block that keeps its numbers there, and then the weights: each lane needs all weights,
// and a window's row needs each number several times.
inline std::size_t staged_bytes(const ProductTask &task) {
  const int positions = staged_positions(task.blocks_per_window.width, task.block_step.width);
  return sizeof(float) * static_cast<std::size_t>(task.length * positions + weights_of_rows(task));
}

// Copies `rows` rows of `columns` floats, a multiple of 4, from global memory, where they lie `pitch` floats apart. Each
// thread issues several loads before it uses the first one.
__device__ inline void stage(const float *from, std::ptrdiff_t pitch, int rows, int columns, float *shared) {
  constexpr int kLoads = 8;
  const int across = columns / 4, count = rows * across, threads = static_cast<int>(blockDim.x);
  for (int first = static_cast<int>(threadIdx.x); first < count; first += kLoads * threads) {
    float4 loaded[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = min(first + i * threads, count - 1), row = at / across;
      loaded[i] = __ldcg(reinterpret_cast<const float4 *>(from + row * pitch) + (at - row * across));
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      if (const int at = first + i * threads; at < count) reinterpret_cast<float4 *>(shared)[at] = loaded[i];
  }
}

// Multiplies the numbers of a lane's positions by the weights of kRowsAtOnce rows. `numbers` points to number 0 of the
// block at the first position; number k of a block lies k * stride floats further.
template <int kOfLane>
__device__ __forceinline__ void add_products(const ProductTask &task, const float *numbers,
                                             std::ptrdiff_t stride, const float4 *weights,
                                             float (&sums)[kOfLane][kRowsAtOnce]) {
  for (int i = 0; i < task.blocks_per_window.width; ++i) {
    const float *of_block = numbers + i * task.block_step.width;
#pragma unroll 4
    for (int k = 0; k < task.length; ++k, of_block += stride, weights += kRowsAtOnce / 4) {
      float number[kOfLane];
#pragma unroll
      for (int p = 0; p < kOfLane; ++p) number[p] = of_block[32 * p];
#pragma unroll
      for (int q = 0; q < kRowsAtOnce / 4; ++q) {
        const float4 w = weights[q];
#pragma unroll
        for (int p = 0; p < kOfLane; ++p) {
          sums[p][4 * q] = fmaf(number[p], w.x, sums[p][4 * q]);
          sums[p][4 * q + 1] = fmaf(number[p], w.y, sums[p][4 * q + 1]);
          sums[p][4 * q + 2] = fmaf(number[p], w.z, sums[p][4 * q + 2]);
          sums[p][4 * q + 3] = fmaf(number[p], w.w, sums[p][4 * q + 3]);
        }
      }
    }
  }
}

// blockIdx.y: the chunk of rows. kStaged: the launch has staged_bytes() of dynamic shared memory.
template <int kOfLane, bool kStaged>
static __global__ void __launch_bounds__(product_threads(kOfLane), 4) multiply_rows_kernel(ProductTask task) {
  CUDAVISION_DYNAMIC_SHARED(float, shared);
  let_next_kernel_start();
  const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const DeviceLevel &level =
      level_of_block(task.levels, task.level_count, block, &DeviceLevel::first_product_block);
  const BlockPlace place = level.picture.place;
  const int count = level.picture.cols * level.picture.rows;
  const int first_of_block = (block - level.first_product_block) * kProductPositions,
            of_thread = thread / 32 * (32 * kOfLane) + thread % 32, first = first_of_block + of_thread;
  const float *numbers = task.blocks + place.first + first_of_block;
  const float4 *weights =
      task.weights + static_cast<std::ptrdiff_t>(blockIdx.y) * (weights_of_rows(task) / 4);
  float sums[kOfLane][kRowsAtOnce] = {};
  if constexpr (kStaged) {
    const int positions = staged_positions(task.blocks_per_window.width, task.block_step.width);
    float *staged_weights = shared + task.length * positions;
    stage(reinterpret_cast<const float *>(weights), 0, 1, weights_of_rows(task), staged_weights);
    wait_for_kernel_ahead();
    stage(numbers, place.number_stride, task.length, positions, shared);
    __syncthreads();
    add_products(task, shared + of_thread, positions, reinterpret_cast<const float4 *>(staged_weights), sums);
  } else {
    wait_for_kernel_ahead();
    add_products(task, numbers + of_thread, place.number_stride, weights, sums);
  }
  const int first_row = static_cast<int>(blockIdx.y) * kRowsAtOnce;
#pragma unroll
  for (int p = 0; p < kOfLane; ++p) {
    if (first + 32 * p >= count) continue;
    float *out = task.products + first_row * task.position_count + level.positions + first + 32 * p;
#pragma unroll
    for (int j = 0; j < kRowsAtOnce; ++j)
      if (first_row + j < task.blocks_per_window.height) out[j * task.position_count] = sums[p][j];
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
                         static_cast<std::ptrdiff_t>(row * rules.window_step.height) * level.picture.cols +
                         col * rules.window_step.width;
  const std::ptrdiff_t next =
      rules.position_count + static_cast<std::ptrdiff_t>(rules.row_step) * level.picture.cols;
  float score = rules.bias;
  for (int first = 0; first < rules.rows; first += kRowsAtOnce) {
    float products[kRowsAtOnce];  // all loads are issued before the first result is used
#pragma unroll
    for (int j = 0; j < kRowsAtOnce; ++j) products[j] = product[min(first + j, rules.rows - 1) * next];
#pragma unroll
    for (int j = 0; j < kRowsAtOnce; ++j)
      if (first + j < rules.rows) score += products[j];
  }
  return score;
}

}  // namespace cudavision::hog
