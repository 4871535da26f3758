// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds the keypoints of a tile: a block computes the strengths of the tile and its halo in shared memory,
// finds the greatest strength of each cell, and sets a bit for each keypoint.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/copy_rows.cuh"
#include "cuda/sigma2kp/sigma2kp_rules.h"

namespace cudavision::sigma2kp {

constexpr int kThreads = 256;
constexpr int kColumnRows = 12;  // rows of strengths for which one thread slides the sums of a column
constexpr int kRowColumns = 10;  // columns of strengths for which one thread slides the sums of a row
constexpr int kDenseRows = 8;    // vertically adjacent cells of `dense` whose extremes one thread finds
constexpr int kMaxTileWords = 64 / 32 * 32;
constexpr int kWordBytes = sizeof(CopyWord);

// The size of a tile and its layout in shared memory: the strengths, then the column sums for `chunk` rows of
// strengths, then the pixels under these rows. The first two pitches are odd numbers of elements to avoid bank
// conflicts between threads that each take a row; pixel_pitch is a whole number of words.
struct TileLayout {
  int width, height;  // of the tile, without halo, in windows; width is a multiple of 32
  int strength_pitch, sum_pitch, pixel_pitch;  // in elements
  int chunk;                                   // rows of strengths that are computed at a time

  CUDAVISION_HOST_DEVICE int words() const { return width / 32 * height; }
};

// The sum of pixels and the sum of their squares.
struct Sums {
  std::uint32_t sum, squares;
};

CUDAVISION_HOST_DEVICE inline std::size_t strength_bytes(const TileLayout &tile, const DetectorPlan &plan) {
  const auto rows = static_cast<std::size_t>(tile.height + plan.before + plan.after);
  const std::size_t bytes = rows * static_cast<std::size_t>(tile.strength_pitch) * (plan.is_wide() ? 8 : 4);
  return (bytes + 15) / 16 * 16;
}
CUDAVISION_HOST_DEVICE inline std::size_t sum_bytes(const TileLayout &tile) {
  return static_cast<std::size_t>(tile.chunk) * static_cast<std::size_t>(tile.sum_pitch) * sizeof(Sums);
}

// The windows [x0, x1) x [y0, y1).
struct WindowRange {
  int x0, y0, x1, y1;
};

// T: the type of a strength. kWindow, kCell: the window and the cell of a plan with grids as constants, or 0 to read
// them from the plan. Constant trip counts let the compiler overlap loads.
template <typename T, int kWindow, int kCell>
struct TileWork {
  using Strength = T;

  const DetectorPlan &plan;
  const TileLayout &tile;
  int x, y;              // the first window of the tile
  WindowRange needed;    // the tile and its halo, clipped to the map
  T *strengths;          // the strengths of `needed`
  Sums *sums;            // the sums of the columns from needed.x0 on
  std::uint8_t *pixels;  // of the columns from needed.x0 on, which begin at shift() in each row
  unsigned *bits;        // of the tile: tile.width / 32 words per row

  __device__ int window() const { return kWindow != 0 ? kWindow : plan.window; }
  __device__ int cell() const { return kCell != 0 ? kCell : plan.cell; }
  __device__ bool dense() const { return kWindow == 0 && plan.dense; }
  __device__ int pixel_columns() const { return needed.x1 - needed.x0 + window() - 1; }
  // The distance in bytes of the first column from a whole word of the picture.
  __device__ int shift() const { return needed.x0 % kWordBytes; }
  __device__ T &strength(int at_x, int at_y) const {
    return strengths[(at_y - needed.y0) * tile.strength_pitch + at_x - needed.x0];
  }
  // Sets the bit of a window. Ignores windows outside the tile, which other blocks mark. Several cells may mark one
  // window.
  __device__ void mark(int at_x, int at_y) const {
    const auto dx = static_cast<unsigned>(at_x - x), dy = static_cast<unsigned>(at_y - y);
    const auto width = static_cast<unsigned>(tile.width), height = static_cast<unsigned>(tile.height);
    if (dx < width && dy < height) atomicOr(&bits[dy * (width / 32) + dx / 32], 1u << (dx % 32));
  }
};

struct RowAndColumn {
  int row, column;
};
// The row and the column of item `i`, if a row has `columns` items. Divides as unsigned numbers, which takes half as
// many instructions as for signed ones.
__device__ inline RowAndColumn row_and_column(int i, int columns) {
  const int row = static_cast<int>(static_cast<unsigned>(i) / static_cast<unsigned>(columns));
  return {row, i - row * columns};
}

__device__ inline void add_pixel(Sums &sums, int pixel) {
  sums.sum += static_cast<unsigned>(pixel);
  sums.squares += static_cast<unsigned>(pixel * pixel);
}

// Loads the pixels of `rows` rows of windows, beginning with row y.
template <typename Work>
__device__ void load_pixels(const Work &work, ImageView<const std::uint8_t> luma, int y, int rows) {
  constexpr int kLanes = 32, kGroups = kThreads / kLanes;
  const int thread = static_cast<int>(threadIdx.x), shift = work.shift(), columns = work.pixel_columns(),
            pitch = work.tile.pixel_pitch;
  const std::uint8_t *from = luma.row(y) + work.needed.x0 - shift;
  rows += work.window() - 1;
  if (has_whole_words(luma))
    copy_rows<kGroups, kLanes>(reinterpret_cast<const CopyWord *>(from), luma.pitch_bytes / kWordBytes,
                               divide_up(shift + columns, kWordBytes), rows,
                               reinterpret_cast<CopyWord *>(work.pixels), pitch / kWordBytes, thread);
  else
    copy_rows<kGroups, kLanes>(from + shift, luma.pitch_bytes, columns, rows, work.pixels + shift, pitch,
                               thread);
}

// Computes the column sums of `rows` rows of windows: one thread per column and kColumnRows rows.
template <typename Work>
__device__ void sum_columns(const Work &work, int rows) {
  const int window = work.window(), columns = work.pixel_columns(), pitch = work.tile.pixel_pitch;
  const int groups = divide_up(rows, kColumnRows);
  for (int item = static_cast<int>(threadIdx.x); item < columns * groups; item += kThreads) {
    const auto [group, column] = row_and_column(item, columns);
    const int first = group * kColumnRows, end = min(first + kColumnRows, rows);
    const std::uint8_t *pixel = work.pixels + work.shift() + first * pitch + column;
    Sums *to = work.sums + first * work.tile.sum_pitch + column;
    Sums sums{0, 0};
    for (int i = 0; i < window; ++i) add_pixel(sums, pixel[i * pitch]);
    *to = sums;
#pragma unroll 4
    for (int row = first + 1; row < end; ++row, pixel += pitch) {
      const int in = pixel[window * pitch], out = *pixel;
      sums.sum += static_cast<unsigned>(in - out);
      sums.squares += static_cast<unsigned>((in - out) * (in + out));
      to += work.tile.sum_pitch;
      *to = sums;
    }
  }
}

// Computes the strengths of `rows` rows of windows, beginning with row y: one thread per row and kRowColumns
// columns.
template <typename Work>
__device__ void sum_rows(const Work &work, int y, int rows) {
  using T = typename Work::Strength;
  const int window = work.window(), columns = work.needed.x1 - work.needed.x0;
  const int groups = divide_up(columns, kRowColumns);
  for (int item = static_cast<int>(threadIdx.x); item < rows * groups; item += kThreads) {
    const auto [group, row] = row_and_column(item, rows);
    const int first = group * kRowColumns, end = min(first + kRowColumns, columns);
    const Sums *from = work.sums + row * work.tile.sum_pitch;
    Sums sums{0, 0};
    for (int i = 0; i < window; ++i) {
      const Sums one = from[first + i];
      sums.sum += one.sum, sums.squares += one.squares;
    }
    T *to = &work.strength(work.needed.x0, y + row);
    to[first] = strength_of<T>(sums.sum, sums.squares, window);
#pragma unroll 4
    for (int x = first + 1; x < end; ++x) {
      const Sums in = from[x + window - 1], out = from[x - 1];
      sums.sum += in.sum - out.sum, sums.squares += in.squares - out.squares;
      to[x] = strength_of<T>(sums.sum, sums.squares, window);
    }
  }
}

// Computes the strengths of work.needed, chunk by chunk. All threads of the block must call.
template <typename Work>
__device__ void compute_strengths(const Work &work, ImageView<const std::uint8_t> luma) {
  for (int y = work.needed.y0; y < work.needed.y1; y += work.tile.chunk) {
    const int rows = min(work.tile.chunk, work.needed.y1 - y);
    load_pixels(work, luma, y, rows);
    __syncthreads();
    sum_columns(work, rows);
    __syncthreads();
    sum_rows(work, y, rows);
  }
  __syncthreads();
}

// Marks the keypoint of the cell of a grid that begins at (x, y), if it has one. If all strengths are equal,
// the greatest one is in the corner of the cell, which is never near the centre.
template <typename Work>
__device__ void mark_cell(const Work &work, int x, int y) {
  using T = typename Work::Strength;
  const int side = work.cell();
  T most = work.strength(x, y);
  int most_x = 0, most_y = 0;
  for (int dy = 0; dy < side; ++dy) {
    const T *row = &work.strength(x, y + dy);
    for (int dx = 0; dx < side; ++dx)
      if (row[dx] > most) most = row[dx], most_x = dx, most_y = dy;
  }
  if (work.plan.is_near(most_x, most_y)) work.mark(x + most_x, y + most_y);
}

// Marks the keypoints of all grids: one thread per cell that can have a keypoint in the tile.
template <typename Work>
__device__ void mark_cells(const Work &work) {
  const DetectorPlan &plan = work.plan;
  const int side = work.cell();
  const auto first_cell = [&](int from) { return max(floor_divide(from - plan.end_near, side) + 1, 0); };
  const auto end_cell = [&](int end, int count) {
    return min(floor_divide(end - plan.first_near - 1, side) + 1, count);
  };
  int item = static_cast<int>(threadIdx.x);
  for (int g = 0; g < plan.grid_count; ++g) {
    const Offset grid = plan.grid[g];
    const int first_x = first_cell(work.x - grid.x), first_y = first_cell(work.y - grid.y);
    const int columns =
        end_cell(work.x + work.tile.width - grid.x, cells_along(plan.map.width, grid.x, side)) - first_x;
    const int rows =
        end_cell(work.y + work.tile.height - grid.y, cells_along(plan.map.height, grid.y, side)) - first_y;
    const int count = max(columns, 0) * max(rows, 0);
    for (; item < count; item += kThreads) {
      const auto [row, column] = row_and_column(item, columns);
      const int x = grid.x + (first_x + column) * side, y = grid.y + (first_y + row) * side;
      mark_cell(work, x, y);
    }
    item -= count;  // the next grid continues with the threads that are still free
  }
}

// Marks the keypoints of equation 2 (`dense`): one thread per column and kDenseRows vertically adjacent
// cells, which share rows of strengths.
template <typename Work>
__device__ void mark_dense(const Work &work) {
  using T = typename Work::Strength;
  const DetectorPlan &plan = work.plan;
  const int side = work.cell(), half = side / 2, reach = plan.end_near - 1;
  // The first windows of the cells of all q that are near a window of the tile.
  const int first_x = max(work.x - reach - half, 0), first_y = max(work.y - reach - half, 0);
  const int end_x = min(work.x + work.tile.width + reach - half, plan.map.width - side + 1);
  const int end_y = min(work.y + work.tile.height + reach - half, plan.map.height - side + 1);
  const int columns = end_x - first_x, groups = divide_up(max(end_y - first_y, 0), kDenseRows);
  for (int item = static_cast<int>(threadIdx.x); item < columns * groups; item += kThreads) {
    const auto [group, column] = row_and_column(item, columns);
    const int x = first_x + column, y = first_y + group * kDenseRows, count = min(kDenseRows, end_y - y);
    T most[kDenseRows], least[kDenseRows];
#pragma unroll
    for (int i = 0; i < kDenseRows; ++i) most[i] = 0, least[i] = ~T{0};
    for (int row = 0; row < side + count - 1; ++row) {
      const T *from = &work.strength(x, y + row);
      T high = from[0], low = high;
      for (int dx = 1; dx < side; ++dx) high = max(high, from[dx]), low = min(low, from[dx]);
#pragma unroll
      for (int i = 0; i < kDenseRows; ++i)
        if (row >= i && row < i + side) most[i] = max(most[i], high), least[i] = min(least[i], low);
    }
#pragma unroll
    for (int i = 0; i < kDenseRows; ++i) {
      if (i >= count || most[i] == least[i]) continue;
      const int qx = x + half, qy = y + i + half;
      for (int dy = -reach; dy <= reach; ++dy)
        for (int dx = -reach; dx <= reach; ++dx)
          if (plan.is_near(dx, dy) && work.strength(qx + dx, qy + dy) == most[i]) work.mark(qx + dx, qy + dy);
    }
  }
}

// Sets the bits of the keypoints of the tile. The caller must have cleared all bits. All threads of the block
// must call; ends with a barrier.
template <typename Work>
__device__ void mark_tile(const Work &work, ImageView<const std::uint8_t> luma) {
  compute_strengths(work, luma);
  if (work.dense())
    mark_dense(work);
  else
    mark_cells(work);
  __syncthreads();
}

}  // namespace cudavision::sigma2kp
