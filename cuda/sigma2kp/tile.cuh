// SPDX-License-Identifier: LGPL-2.1-or-later
// What a block does for its tile of windows: S of all that decide about them in shared memory, then the
// greatest of each square, and a bit for each keypoint.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "sigma2kp/sigma2kp_rules.h"

namespace cudavision::sigma2kp {

constexpr int kThreads = 256;
constexpr int kColumnRows = 8;  // rows of S for which a thread slides one column's sums
constexpr int kRowColumns = 8;  // columns of S for which a thread slides the sums of one row
constexpr int kDenseRows = 8;   // squares below each other whose greatest a thread finds
constexpr int kMaxTileWords = 64;

// The tile's size, and how it lies in shared memory: S, then the column sums of `chunk` rows of S. Pitches
// are odd numbers of elements, so that threads which take a row each meet different banks.
struct Tile {
  int width, height;              // of the windows that it decides about: width is a multiple of 32
  int strength_pitch, sum_pitch;  // elements
  int chunk;                      // rows

  CUDAVISION_HOST_DEVICE int words() const { return width / 32 * height; }
};

struct Sums {
  std::uint32_t sum, squares;
};

CUDAVISION_HOST_DEVICE inline std::size_t strength_bytes(const Tile &tile, const Plan &plan) {
  const auto rows = static_cast<std::size_t>(tile.height + plan.before + plan.after);
  const std::size_t bytes = rows * static_cast<std::size_t>(tile.strength_pitch) * (plan.is_wide() ? 8 : 4);
  return (bytes + 15) / 16 * 16;
}
inline std::size_t shared_bytes(const Tile &tile, const Plan &plan) {
  return strength_bytes(tile, plan) +
         static_cast<std::size_t>(tile.chunk) * static_cast<std::size_t>(tile.sum_pitch) * sizeof(Sums);
}

// The windows [x0, x1) x [y0, y1) whose S a block has.
struct Extent {
  int x0, y0, x1, y1;
};

template <typename T>
struct TileWork {
  const Plan &plan;
  const Tile &tile;
  int x, y;        // the tile's first window
  Extent has;      // the windows whose S it needs
  T *strengths;    // of `has`
  Sums *sums;      // of columns from has.x0 on
  unsigned *bits;  // of the tile: tile.width / 32 words a row

  __device__ T &strength(int at_x, int at_y) const {
    return strengths[(at_y - has.y0) * tile.strength_pitch + at_x - has.x0];
  }
  // Of the tile alone: other blocks find what lies outside of it. Several squares may mark one window.
  __device__ void mark(int at_x, int at_y) const {
    const int dx = at_x - x, dy = at_y - y;
    if (dx < 0 || dy < 0 || dx >= tile.width || dy >= tile.height) return;
    atomicOr(&bits[dy * (tile.width / 32) + dx / 32], 1u << (dx % 32));
  }
};

__device__ inline void add_pixel(Sums &sums, int pixel) {
  sums.sum += static_cast<unsigned>(pixel);
  sums.squares += static_cast<unsigned>(pixel * pixel);
}

// The sums of columns for `rows` rows of windows from row y on: a thread for each column and kColumnRows
// rows.
template <typename T>
__device__ void sum_columns(const TileWork<T> &work, ImageView<const std::uint8_t> luma, int y, int rows) {
  const int window = work.plan.window, columns = work.has.x1 - work.has.x0 + window - 1;
  const int stretches = divide_up(rows, kColumnRows);
  for (int item = static_cast<int>(threadIdx.x); item < columns * stretches; item += kThreads) {
    const int stretch = item / columns, column = item - stretch * columns, x = work.has.x0 + column;
    const int first = stretch * kColumnRows, end = min(first + kColumnRows, rows);
    Sums sums{0, 0};
    for (int i = 0; i < window; ++i) add_pixel(sums, luma.row(y + first + i)[x]);
    work.sums[first * work.tile.sum_pitch + column] = sums;
    for (int row = first + 1; row < end; ++row) {
      const int in = luma.row(y + row + window - 1)[x], out = luma.row(y + row - 1)[x];
      sums.sum += static_cast<unsigned>(in - out);
      sums.squares += static_cast<unsigned>((in - out) * (in + out));
      work.sums[row * work.tile.sum_pitch + column] = sums;
    }
  }
}

// S of these rows: a thread for each row and kRowColumns columns.
template <typename T>
__device__ void sum_rows(const TileWork<T> &work, int y, int rows) {
  const int window = work.plan.window, columns = work.has.x1 - work.has.x0;
  const int stretches = divide_up(columns, kRowColumns);
  for (int item = static_cast<int>(threadIdx.x); item < rows * stretches; item += kThreads) {
    const int stretch = item / rows, row = item - stretch * rows;
    const int first = stretch * kRowColumns, end = min(first + kRowColumns, columns);
    const Sums *from = work.sums + row * work.tile.sum_pitch;
    Sums sums{0, 0};
    for (int i = 0; i < window; ++i) {
      const Sums one = from[first + i];
      sums.sum += one.sum, sums.squares += one.squares;
    }
    T *to = &work.strength(work.has.x0, y + row);
    to[first] = strength_of<T>(sums.sum, sums.squares, window);
    for (int x = first + 1; x < end; ++x) {
      const Sums in = from[x + window - 1], out = from[x - 1];
      sums.sum += in.sum - out.sum, sums.squares += in.squares - out.squares;
      to[x] = strength_of<T>(sums.sum, sums.squares, window);
    }
  }
}

template <typename T>
__device__ void respond(const TileWork<T> &work, ImageView<const std::uint8_t> luma) {
  for (int y = work.has.y0; y < work.has.y1; y += work.tile.chunk) {
    const int rows = min(work.tile.chunk, work.has.y1 - y);
    sum_columns(work, luma, y, rows);
    __syncthreads();
    sum_rows(work, y, rows);
    __syncthreads();
  }
}

// A square of a grid: its greatest S, the first in raster order. That of a flat square is its corner, which
// is near to no centre.
template <typename T>
__device__ void mark_square(const TileWork<T> &work, int x, int y) {
  const int side = work.plan.cell;
  T most = work.strength(x, y);
  int most_x = 0, most_y = 0;
  for (int dy = 0; dy < side; ++dy) {
    const T *row = &work.strength(x, y + dy);
    for (int dx = 0; dx < side; ++dx)
      if (row[dx] > most) most = row[dx], most_x = dx, most_y = dy;
  }
  if (work.plan.is_near(most_x, most_y)) work.mark(x + most_x, y + most_y);
}

// A thread for each square that can have a keypoint in the tile.
template <typename T>
__device__ void mark_squares(const TileWork<T> &work, Offset grid) {
  const Plan &plan = work.plan;
  const int side = plan.cell, count_x = plan.squares(plan.map.width, grid.x);
  const int count_y = plan.squares(plan.map.height, grid.y);
  const auto first_square = [&](int from) { return max(floor_divide(from - plan.end_near, side) + 1, 0); };
  const auto end_square = [&](int end, int count) {
    return min(floor_divide(end - plan.first_near - 1, side) + 1, count);
  };
  const int first_x = first_square(work.x - grid.x), first_y = first_square(work.y - grid.y);
  const int columns = end_square(work.x + work.tile.width - grid.x, count_x) - first_x;
  const int rows = end_square(work.y + work.tile.height - grid.y, count_y) - first_y;
  if (columns <= 0) return;
  for (int item = static_cast<int>(threadIdx.x); item < columns * rows; item += kThreads)
    mark_square(work, grid.x + (first_x + item % columns) * side, grid.y + (first_y + item / columns) * side);
}

// Equation 2: a thread for each column of squares and kDenseRows of them below each other, which share rows.
template <typename T>
__device__ void mark_dense(const TileWork<T> &work) {
  const Plan &plan = work.plan;
  const int side = plan.cell, half = side / 2, reach = plan.end_near - 1;
  // Squares by their first windows: those of all q that are near to a window of the tile.
  const int first_x = max(work.x - reach - half, 0), first_y = max(work.y - reach - half, 0);
  const int end_x = min(work.x + work.tile.width + reach - half, plan.map.width - side + 1);
  const int end_y = min(work.y + work.tile.height + reach - half, plan.map.height - side + 1);
  const int columns = end_x - first_x, stretches = divide_up(max(end_y - first_y, 0), kDenseRows);
  for (int item = static_cast<int>(threadIdx.x); item < columns * stretches; item += kThreads) {
    const int stretch = item / columns, x = first_x + item - stretch * columns;
    const int y = first_y + stretch * kDenseRows, count = min(kDenseRows, end_y - y);
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

// Sets the bits of the tile, which were 0. All threads of the block call; the last barrier is after the last
// bit.
template <typename T>
__device__ void mark_tile(const TileWork<T> &work, ImageView<const std::uint8_t> luma) {
  respond(work, luma);
  if (work.plan.dense)
    mark_dense(work);
  else
    for (int g = 0; g < work.plan.grid_count; ++g) mark_squares(work, work.plan.grid[g]);
  __syncthreads();
}

}  // namespace cudavision::sigma2kp
