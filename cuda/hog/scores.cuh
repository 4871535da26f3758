// SPDX-License-Identifier: LGPL-2.1-or-later
// The scores of windows, computed as a matrix product without building the matrices. At each position of the
// grid, the descriptors of one row of a window's blocks are multiplied by the weights of all rows of the
// window at once. The score of a window is then the sum of one product for each of its rows.
#pragma once

#include "cuda/common/async_copy.cuh"
#include "cuda/common/dynamic_shared.cuh"
#include "cuda/hog/device_levels.cuh"

namespace cudavision::hog {

constexpr int kRowsAtOnce = 16;  // rows of a window that a thread block handles
// A thread block handles successive positions of the grid, row after row. Each lane has kOfLane of them, 32 apart. The
// more it has, the fewer times it loads the weights, which is what limits a large picture; the fewer, the more warps
// there are for a small one.
constexpr int kProductThreads = 64, kManyPositions = 4, kFewPositions = 2;
CUDAVISION_HOST_DEVICE constexpr int product_positions(int of_lane) { return kProductThreads * of_lane; }
// Thread blocks on a multiprocessor at once, by registers.
constexpr int product_blocks(int of_lane, bool staged) {
  return !staged ? 4 : of_lane == kManyPositions ? 8 : 10;
}
// Numbers of a descriptor whose copies to shared memory are one stage of the kernel.
constexpr int kStageNumbers = 4;

struct ProductTask {
  const DeviceLevel *levels;
  int level_count, length;
  const float *blocks;
  // [chunk of kRowsAtOnce rows][number][column of the window's blocks][row of the chunk]
  const float4 *weights;
  Size blocks_per_window, block_step;
  float *products;  // [row of a window][grid position]
  std::ptrdiff_t position_count;
};

// The positions whose numbers a thread block needs, rounded up to whole float4: its own and those of the other blocks in
// a row of the last window.
CUDAVISION_HOST_DEVICE inline int staged_positions(const ProductTask &task, int of_lane) {
  return divide_up(product_positions(of_lane) + (task.blocks_per_window.width - 1) * task.block_step.width,
                   4) *
         4;
}
// The weights of kRowsAtOnce rows of a window for one number.
CUDAVISION_HOST_DEVICE inline int weights_of_number(const ProductTask &task) {
  return task.blocks_per_window.width * kRowsAtOnce;
}

// The factors of a stage: kStageNumbers numbers of all positions, and their weights.
struct Stage {
  float *numbers;  // [number][positions]
  float *weights;  // as ProductTask::weights
};
CUDAVISION_HOST_DEVICE inline int floats_of_stage(const ProductTask &task, int of_lane) {
  return kStageNumbers * (staged_positions(task, of_lane) + weights_of_number(task));
}
// The shared memory of a thread block that keeps two stages there: each lane needs all weights, and a window's row needs
// each number several times.
inline std::size_t staged_bytes(const ProductTask &task, int of_lane) {
  return 2 * sizeof(float) * static_cast<std::size_t>(floats_of_stage(task, of_lane));
}

// Begins to copy `rows` rows of `columns` floats, a multiple of 4, from global memory, where they lie `pitch` floats
// apart.
__device__ inline void begin_copies(const float *from, std::ptrdiff_t pitch, int rows, int columns,
                                    float *shared) {
  for (int row = 0; row < rows; ++row, from += pitch, shared += columns)
    for (int i = static_cast<int>(threadIdx.x); i < columns / 4; i += kProductThreads)
      begin_copy(reinterpret_cast<uint4 *>(shared) + i, reinterpret_cast<const uint4 *>(from) + i);
}

// Multiplies `count` numbers of a lane's positions by the weights of kRowsAtOnce rows. `numbers` points to the first
// number of the block at the first position; the next one lies `stride` floats further.
template <int kOfLane>
__device__ __forceinline__ void add_products(const ProductTask &task, int count, const float *numbers,
                                             std::ptrdiff_t stride, const float4 *weights,
                                             float (&sums)[kOfLane][kRowsAtOnce]) {
  for (int k = 0; k < count; ++k, numbers += stride) {
    const float *of_block = numbers;
#pragma unroll 7
    for (int i = 0; i < task.blocks_per_window.width;
         ++i, of_block += task.block_step.width, weights += kRowsAtOnce / 4) {
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

// All products of a thread block by stages: while it multiplies the factors of one, those of the next one are copied.
template <int kOfLane>
__device__ __forceinline__ void add_staged_products(const ProductTask &task, const float *numbers,
                                                    std::ptrdiff_t stride, const float4 *weights,
                                                    int of_thread, float *shared,
                                                    float (&sums)[kOfLane][kRowsAtOnce]) {
  const int positions = staged_positions(task, kOfLane), of_number = weights_of_number(task);
  const auto stage = [&](int first) -> Stage {
    float *begin = shared + first / kStageNumbers % 2 * floats_of_stage(task, kOfLane);
    return {begin, begin + kStageNumbers * positions};
  };
  const auto count_of = [&](int first) { return min(kStageNumbers, task.length - first); };
  const auto copy_weights = [&](int first) {
    begin_copies(reinterpret_cast<const float *>(weights) + first * of_number, 0, 1,
                 count_of(first) * of_number, stage(first).weights);
  };
  const auto copy_numbers = [&](int first) {
    begin_copies(numbers + first * stride, stride, count_of(first), positions, stage(first).numbers);
  };
  copy_weights(0);
  wait_for_kernel_ahead();
  copy_numbers(0);
  for (int first = 0; first < task.length; first += kStageNumbers) {
    end_copies();
    __syncthreads();  // all copies of this stage are visible, and no thread reads the stage before any more
    if (const int next = first + kStageNumbers; next < task.length) copy_weights(next), copy_numbers(next);
    const Stage here = stage(first);
    add_products(task, count_of(first), here.numbers + of_thread, positions,
                 reinterpret_cast<const float4 *>(here.weights), sums);
  }
}

// blockIdx.y: the chunk of rows. kStaged: the launch has staged_bytes() of dynamic shared memory.
template <int kOfLane, bool kStaged>
static __global__ void __launch_bounds__(kProductThreads, product_blocks(kOfLane, kStaged))
    multiply_rows_kernel(ProductTask task) {
  CUDAVISION_DYNAMIC_SHARED(float, shared);
  let_next_kernel_start();
  const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const DeviceLevel &level =
      level_of_block(task.levels, task.level_count, block, &DeviceLevel::first_product_block);
  const BlockPlace place = level.picture.place;
  const int count = level.picture.cols * level.picture.rows;
  const int first_of_block = (block - level.first_product_block) * product_positions(kOfLane),
            of_thread = thread / 32 * (32 * kOfLane) + thread % 32, first = first_of_block + of_thread;
  const float *numbers = task.blocks + place.first + first_of_block;
  const float4 *weights =
      task.weights + static_cast<std::ptrdiff_t>(blockIdx.y) * task.length * (weights_of_number(task) / 4);
  float sums[kOfLane][kRowsAtOnce] = {};
  if constexpr (kStaged) {
    add_staged_products(task, numbers, place.number_stride, weights, of_thread, shared, sums);
  } else {
    wait_for_kernel_ahead();
    add_products(task, task.length, numbers + of_thread, place.number_stride, weights, sums);
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
