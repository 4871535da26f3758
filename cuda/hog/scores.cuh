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
// A thread block, which is one warp, handles successive positions of the grid in row-major order. A lane computes the
// products of four positions with half of the rows.
constexpr int kProductThreads = 32, kProductPositions = kProductThreads / 2 * 4;
constexpr int kRowsOfLane = kRowsAtOnce / 2;
using LaneSums = float[4][kRowsOfLane];
// One stage of the kernel copies this many numbers of the descriptors to shared memory.
constexpr int kStageNumbers = 4;

struct ProductTask {
  const DeviceLevel *levels;
  int level_count, length;
  const float *blocks;
  // [chunk of kRowsAtOnce rows][number][column of the window's blocks][row of the chunk]. Numbers behind the last one,
  // fewer than kStageNumbers, are loaded but not used.
  const float4 *weights;
  Size blocks_per_window, block_step;
  float *products;                // [row of a window][grid position]
  std::ptrdiff_t position_count;  // a multiple of four
  Search search;
};

// The number of positions whose numbers a thread block loads: its own, those of the further blocks in a row of the last
// window, and some more, so that it can load four at a time.
CUDAVISION_HOST_DEVICE constexpr int staged_positions(int blocks_across, int block_step) {
  return kProductPositions + divide_up((blocks_across - 1) * block_step + 1, 4) * 4;
}
// The number of weights that kRowsAtOnce rows of a window have for one number of the descriptors.
CUDAVISION_HOST_DEVICE inline int weights_of_number(const ProductTask &task) {
  return task.blocks_per_window.width * kRowsAtOnce;
}

// The factors of a stage: kStageNumbers numbers of all positions, and their weights.
struct Stage {
  float *numbers;  // [number][positions]
  float *weights;  // as ProductTask::weights
};
// The number of floats in a stage, including those behind the last weights, which LaneWeights loads but does not use.
// of_number: weights_of_number().
CUDAVISION_HOST_DEVICE constexpr int stage_floats(int positions, int of_number) {
  return kStageNumbers * (positions + of_number) + kRowsAtOnce;
}
// The bytes of shared memory of a thread block, for two stages. Shared memory pays because half of the lanes need each
// weight, and a row of a window needs each number several times.
inline std::size_t staged_bytes(const ProductTask &task) {
  const int positions = staged_positions(task.blocks_per_window.width, task.block_step.width);
  return 2 * sizeof(float) * static_cast<std::size_t>(stage_floats(positions, weights_of_number(task)));
}

// Begins to copy `floats` floats (a multiple of 4) to shared memory. A constant number gives constant trip counts.
__device__ __forceinline__ void begin_copies(const float *from, int floats, float *shared) {
#pragma unroll
  for (int turn = 0; turn < divide_up(floats / 4, kProductThreads); ++turn)
    if (const int i = turn * kProductThreads + static_cast<int>(threadIdx.x); i < floats / 4)
      begin_copy(reinterpret_cast<uint4 *>(shared) + i, reinterpret_cast<const uint4 *>(from) + i);
}

// The weights of a lane's rows for one number of one column of blocks. The weights of the next column, which follow in
// memory, are loaded before those of this column are used, even after the last column.
struct LaneWeights {
  float4 next[2];
  const float4 *from;

  __device__ explicit LaneWeights(const float4 *weights) : from(weights) { load(); }
  __device__ void load() {
    next[0] = from[0], next[1] = from[1];
    from += kRowsAtOnce / 4;
  }
};

// Adds to `sums` the products of one number at each of a lane's positions and the weights of the lane's rows. The
// number at position p is numbers[first + p].
template <int kNumbers>
__device__ __forceinline__ void add_column(const float (&numbers)[kNumbers], int first, LaneWeights &weights,
                                           LaneSums &sums) {
  const float4 here[2] = {weights.next[0], weights.next[1]};
  weights.load();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float weight[4] = {here[half].x, here[half].y, here[half].z, here[half].w};
#pragma unroll
    for (int p = 0; p < 4; ++p)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        sums[p][4 * half + j] = fmaf(numbers[first + p], weight[j], sums[p][4 * half + j]);
  }
}

// Multiplies `count` numbers of a lane's positions by the weights of its rows. `numbers` points to the first number of
// the block at the first position; the next number is `stride` floats further. kUnitStep: whether the blocks of a
// window are neighbours on the grid. Then a lane loads the numbers of eight positions at once and slides over them;
// otherwise it loads each number. kAcross: the columns of blocks in a window; 0: not known at compile time.
template <bool kUnitStep, int kAcross>
__device__ __forceinline__ void add_products(const ProductTask &task, int count, const float *numbers,
                                             std::ptrdiff_t stride, const float4 *first_weights,
                                             LaneSums &sums) {
  LaneWeights weights(first_weights);
  const int across = kAcross != 0 ? kAcross : task.blocks_per_window.width;
  for (int k = 0; k < count; ++k, numbers += stride) {
    if constexpr (kUnitStep) {
      float window[8];
      const auto load = [&](int from, int to) {
        const float4 four = *reinterpret_cast<const float4 *>(numbers + from);
        window[to] = four.x, window[to + 1] = four.y, window[to + 2] = four.z, window[to + 3] = four.w;
      };
      load(0, 0);
#pragma unroll kAcross == 0 ? 1 : kAcross
      for (int first = 0; first < across; first += 4) {
        load(first + 4, 4);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (first + i >= across) break;
          add_column(window, i, weights, sums);
        }
#pragma unroll
        for (int p = 0; p < 4; ++p) window[p] = window[p + 4];
      }
    } else {
      for (int i = 0; i < across; ++i) {
        float number[4];
#pragma unroll
        for (int p = 0; p < 4; ++p) number[p] = numbers[i * task.block_step.width + p];
        add_column(number, 0, weights, sums);
      }
    }
  }
}

// Adds a lane's products to `sums`, in stages: while the factors of one stage are multiplied, those of the next one are
// copied to shared memory. position, row: the first of the lane's four positions and of its kRowsOfLane rows, relative
// to those of the thread block. numbers, weights: the factors of the thread block in global memory.
template <bool kUnitStep, int kAcross>
__device__ __forceinline__ void add_staged_products(const ProductTask &task, const float *numbers,
                                                    std::ptrdiff_t stride, const float4 *weights,
                                                    int position, int row, float *shared, LaneSums &sums) {
  // Compile-time constants if kAcross is not 0.
  const int across = kAcross != 0 ? kAcross : task.blocks_per_window.width,
            positions = staged_positions(across, kUnitStep ? 1 : task.block_step.width),
            of_number = across * kRowsAtOnce, floats = stage_floats(positions, of_number);
  const auto stage = [&](int first) -> Stage {
    float *begin = shared + first / kStageNumbers % 2 * floats;
    return {begin, begin + kStageNumbers * positions};
  };
  // Each stage copies kStageNumbers numbers, even if fewer are left.
  const auto copy_weights = [&](int first) {
    begin_copies(reinterpret_cast<const float *>(weights) + first * of_number, kStageNumbers * of_number,
                 stage(first).weights);
  };
  const auto copy_numbers = [&](int first) {
#pragma unroll
    for (int k = 0; k < kStageNumbers; ++k)
      begin_copies(numbers + min(first + k, task.length - 1) * stride, positions,
                   stage(first).numbers + k * positions);
  };
  copy_weights(0);
  wait_for_kernel_ahead();
  copy_numbers(0);
  for (int first = 0; first < task.length; first += kStageNumbers) {
    end_copies();
    __syncthreads();  // all copies of this stage are visible, and no thread reads the stage before any more
    if (const int next = first + kStageNumbers; next < task.length) copy_weights(next), copy_numbers(next);
    const Stage here = stage(first);
    add_products<kUnitStep, kAcross>(task, min(kStageNumbers, task.length - first), here.numbers + position,
                                     positions, reinterpret_cast<const float4 *>(here.weights + row), sums);
  }
}

// Whether the scores of these windows need products at any of the positions [first, end) of a grid with `cols` columns.
__device__ inline bool needs_products(const GridSteps &grid, const Region &windows, int first, int end,
                                      int cols) {
  const Region blocks = blocks_of_windows(grid, windows);
  const Interval across{blocks.x, (windows.x + windows.width - 1) * grid.window_step.width + 1};
  const int first_row = first / cols, last_row = (end - 1) / cols;
  if (last_row < blocks.y || first_row >= blocks.y + blocks.height) return false;
  if (last_row > first_row + 1) return true;
  const auto meets = [&](int begin, int after) { return begin < across.end && after > across.first; };
  const bool has_first = first_row >= blocks.y, has_last = last_row < blocks.y + blocks.height;
  const int column = first - first_row * cols, behind = end - last_row * cols;
  if (first_row == last_row) return meets(column, behind);
  return (has_first && meets(column, cols)) || (has_last && meets(0, behind));
}

// Where multiply_rows_kernel reads its factors: from copies in shared memory (`staged`; `staged_unit_step` if the
// blocks of a window are neighbours on the grid), or from global memory if a window is too wide for this.
enum class Factors { staged_unit_step, staged, global };

// The columns of blocks in a window of the people model, for which the kernel is compiled with constant trip counts.
constexpr int kPeopleAcross = 7;

// blockIdx.y: the chunk of rows. With staged factors, the launch has staged_bytes() of dynamic shared memory.
template <Factors kFactors, int kAcross>
static __global__ void __launch_bounds__(kProductThreads, 20) multiply_rows_kernel(ProductTask task) {
  CUDAVISION_DYNAMIC_SHARED(float, shared);
  let_next_kernel_start();
  const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const DeviceLevel &level =
      level_of_block(task.levels, task.level_count, block, &DeviceLevel::first_product_block);
  const BlockPlace place = level.picture.place;
  const int count = level.picture.cols * level.picture.rows;
  const int first_of_block = (block - level.first_product_block) * kProductPositions,
            position = thread / 2 * 4, row = thread % 2 * kRowsOfLane;
  if (!has_work(task.search, level, [&](const Region &windows) {
        return needs_products(task.search.grid, windows, first_of_block,
                              min(first_of_block + kProductPositions, count), level.picture.cols);
      }))
    return wait_for_kernel_ahead();
  const float *numbers = task.blocks + place.first + first_of_block;
  const float4 *weights =
      task.weights + static_cast<std::ptrdiff_t>(blockIdx.y) * task.length * (weights_of_number(task) / 4);
  LaneSums sums = {};
  if constexpr (kFactors == Factors::global) {
    wait_for_kernel_ahead();
    add_products<false, 0>(task, task.length, numbers + position, place.number_stride, weights + row / 4,
                           sums);
  } else {
    add_staged_products<kFactors == Factors::staged_unit_step, kAcross>(task, numbers, place.number_stride,
                                                                        weights, position, row, shared, sums);
  }
  const int first_row = static_cast<int>(blockIdx.y) * kRowsAtOnce + row;
  const int first = first_of_block + position;
  if (first >= count) return;  // the lane has no positions
  // Up to three of the lane's four positions may be past the last one: their products are stored in padding.
  float *out = task.products + first_row * task.position_count + level.positions + first;
#pragma unroll
  for (int j = 0; j < kRowsOfLane; ++j)
    if (first_row + j < task.blocks_per_window.height)
      *reinterpret_cast<float4 *>(out + j * task.position_count) = {sums[0][j], sums[1][j], sums[2][j],
                                                                    sums[3][j]};
}

struct ScoreRules {
  const float *products;
  std::ptrdiff_t position_count;
  int rows;          // rows of blocks in a window
  int row_step;      // distance between these rows, in rows of the grid of blocks
  Size window_step;  // distance between neighbouring windows, in positions of the grid of blocks
  float bias;
};

// The score of the window in column `col` and row `row` of the windows of a scale.
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
