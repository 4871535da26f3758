// SPDX-License-Identifier: LGPL-2.1-or-later
// What a block does for its tile of windows: S of all that decide about them in shared memory, then the
// greatest of each square, and a bit for each keypoint.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/walk.cuh"
#include "cuda/sigma2kp/sigma2kp_rules.h"

namespace cudavision::sigma2kp {

constexpr int kThreads = 256;
constexpr int kColumnRows = 12;  // rows of S for which a thread slides one column's sums
constexpr int kRowColumns = 10;  // columns of S for which a thread slides the sums of one row
constexpr int kDenseRows = 8;    // squares below each other whose greatest a thread finds
constexpr int kMaxTileWords = 64;

// The tile's size, and how it lies in shared memory: S, then the column sums of `chunk` rows of S, then the
// pixels under them without gaps. Pitches are odd numbers of elements, so that threads which take a row each
// meet different banks.
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
CUDAVISION_HOST_DEVICE inline std::size_t sum_bytes(const Tile &tile) {
  return static_cast<std::size_t>(tile.chunk) * static_cast<std::size_t>(tile.sum_pitch) * sizeof(Sums);
}
inline std::size_t shared_bytes(const Tile &tile, const Plan &plan) {
  const auto pixels = static_cast<std::size_t>(tile.chunk + plan.window - 1);
  return strength_bytes(tile, plan) + sum_bytes(tile) + pixels * static_cast<std::size_t>(tile.sum_pitch);
}

// The windows [x0, x1) x [y0, y1) whose S a block has.
struct Extent {
  int x0, y0, x1, y1;
};

// T: what holds S. kWindow, kCell: what window and cell of a grid are, or 0 where only the plan knows: loops
// over known ones need no counters, and their loads wait together.
template <typename T, int kWindow, int kCell>
struct TileWork {
  using Strength = T;

  const Plan &plan;
  const Tile &tile;
  int x, y;              // the tile's first window
  Extent has;            // the windows whose S it needs
  T *strengths;          // of `has`
  Sums *sums;            // of columns from has.x0 on
  std::uint8_t *pixels;  // of as many columns, without a gap between rows
  unsigned *bits;        // of the tile: tile.width / 32 words a row

  __device__ int window() const { return kWindow != 0 ? kWindow : plan.window; }
  __device__ int cell() const { return kCell != 0 ? kCell : plan.cell; }
  __device__ bool dense() const { return kWindow == 0 && plan.dense; }
  __device__ int pixel_columns() const { return has.x1 - has.x0 + window() - 1; }
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

// The pixels of `rows` rows of windows from row y on. A thread has several loads under way.
template <typename Work>
__device__ void load_pixels(const Work &work, ImageView<const std::uint8_t> luma, int y, int rows) {
  constexpr int kLoads = 4;
  const int columns = work.pixel_columns(), count = columns * (rows + work.window() - 1);
  int i = static_cast<int>(threadIdx.x);
  const std::uint8_t *from = luma.row(y) + work.has.x0;
  for (Walk<kThreads> at(columns, i, luma.pitch_bytes); i < count; i += kLoads * kThreads) {
    std::uint8_t pixel[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k, at.advance())
      pixel[k] = i + k * kThreads < count ? from[at.offset] : std::uint8_t{0};
#pragma unroll
    for (int k = 0; k < kLoads; ++k)
      if (i + k * kThreads < count) work.pixels[i + k * kThreads] = pixel[k];
  }
}

// The sums of columns for so many rows of windows: a thread for each column and kColumnRows rows.
template <typename Work>
__device__ void sum_columns(const Work &work, int rows) {
  const int window = work.window(), columns = work.pixel_columns();
  const int stretches = divide_up(rows, kColumnRows);
  for (int item = static_cast<int>(threadIdx.x); item < columns * stretches; item += kThreads) {
    const int stretch = item / columns, column = item - stretch * columns;
    const int first = stretch * kColumnRows, end = min(first + kColumnRows, rows);
    const std::uint8_t *pixel = work.pixels + first * columns + column;
    Sums *to = work.sums + first * work.tile.sum_pitch + column;
    Sums sums{0, 0};
    for (int i = 0; i < window; ++i) add_pixel(sums, pixel[i * columns]);
    *to = sums;
    for (int row = first + 1; row < end; ++row, pixel += columns) {
      const int in = pixel[window * columns], out = *pixel;
      sums.sum += static_cast<unsigned>(in - out);
      sums.squares += static_cast<unsigned>((in - out) * (in + out));
      to += work.tile.sum_pitch;
      *to = sums;
    }
  }
}

// S of these rows: a thread for each row and kRowColumns columns.
template <typename Work>
__device__ void sum_rows(const Work &work, int y, int rows) {
  using T = typename Work::Strength;
  const int window = work.window(), columns = work.has.x1 - work.has.x0;
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

template <typename Work>
__device__ void respond(const Work &work, ImageView<const std::uint8_t> luma) {
  for (int y = work.has.y0; y < work.has.y1; y += work.tile.chunk) {
    const int rows = min(work.tile.chunk, work.has.y1 - y);
    load_pixels(work, luma, y, rows);
    __syncthreads();
    sum_columns(work, rows);
    __syncthreads();
    sum_rows(work, y, rows);
  }
  __syncthreads();
}

// A square of a grid: its greatest S, the first in raster order. That of a flat square is its corner, which
// is near to no centre.
template <typename Work>
__device__ void mark_square(const Work &work, int x, int y) {
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

// A thread for each square, of all grids, that can have a keypoint in the tile.
template <typename Work>
__device__ void mark_squares(const Work &work) {
  const Plan &plan = work.plan;
  const int side = work.cell();
  const auto first_square = [&](int from) { return max(floor_divide(from - plan.end_near, side) + 1, 0); };
  const auto end_square = [&](int end, int count) {
    return min(floor_divide(end - plan.first_near - 1, side) + 1, count);
  };
  int item = static_cast<int>(threadIdx.x);
  for (int g = 0; g < plan.grid_count; ++g) {
    const Offset grid = plan.grid[g];
    const int first_x = first_square(work.x - grid.x), first_y = first_square(work.y - grid.y);
    const int columns =
        end_square(work.x + work.tile.width - grid.x, plan.squares(plan.map.width, grid.x)) - first_x;
    const int rows =
        end_square(work.y + work.tile.height - grid.y, plan.squares(plan.map.height, grid.y)) - first_y;
    const int count = max(columns, 0) * max(rows, 0);
    for (; item < count; item += kThreads)
      mark_square(work, grid.x + (first_x + item % columns) * side,
                  grid.y + (first_y + item / columns) * side);
    item -= count;  // the next grid's squares go to the threads that this one's have left
  }
}

// Equation 2: a thread for each column of squares and kDenseRows of them below each other, which share rows.
template <typename Work>
__device__ void mark_dense(const Work &work) {
  using T = typename Work::Strength;
  const Plan &plan = work.plan;
  const int side = work.cell(), half = side / 2, reach = plan.end_near - 1;
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
template <typename Work>
__device__ void mark_tile(const Work &work, ImageView<const std::uint8_t> luma) {
  respond(work, luma);
  if (work.dense())
    mark_dense(work);
  else
    mark_squares(work);
  __syncthreads();
}

}  // namespace cudavision::sigma2kp
