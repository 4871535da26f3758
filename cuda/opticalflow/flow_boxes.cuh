// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel of FlowMethod::boxes. A block takes the pixels of a tile through their iterations together, four
// a thread. In each round it finds, by box filters in shared memory, the sums of all whole displacements that
// many pixels wait for, and these go on as far as they take them. When none is waited for by many, what still
// runs is left to another kernel (flow_leftovers.cuh). Every sum is an integer, so it does not matter who
// finds it.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/warp.cuh"
#include "cuda/opticalflow/flow_leftovers.cuh"

namespace cudavision::opticalflow {

constexpr int kBoxSide = 32;  // pixels of a tile in x, a lane each, and in y
constexpr int kBoxThreads = 256;
constexpr int kPerThread = kBoxSide * kBoxSide / kBoxThreads;  // pixels below each other
constexpr int kBoxRun = 8;                                     // of a row's sums that one thread finds
// Whole displacements that a tile's pixels may differ from its middle's to take part.
constexpr int kBoxMargin = 4;
constexpr int kBoxCells = 2 * kBoxMargin + 1, kBoxCorners = kBoxCells + 1;  // in x or y
// Pixels of a tile for which box filters cost less than their windows one by one.
constexpr int kLeastShared = 40;

constexpr int kBoxWindow = kBoxSide + 2 * kMaxRadius, kBoxMoved = kBoxWindow + kBoxCorners;

__device__ inline bool is_in_picture(const Place &place) {
  return place.x < place.size.width && place.y < place.size.height;
}

// Pitches of odd numbers of banks: the lanes of a warp read rows next to each other.
struct BoxTile {
  Gradient gradient[kBoxWindow][kBoxWindow + 1];  // zero outside the picture
  union {
    std::uint8_t from[kBoxWindow][76];
    std::uint8_t to[kBoxMoved][76];
  };
  int2 row_sum[kBoxWindow][kBoxSide + 1];
  int2 from_sum[kBoxSide][kBoxSide];  // sum (Ix, Iy) I over each pixel's window
  int requests[kBoxCells * kBoxCells];
  int corners[kBoxCorners * kBoxCorners];
  int corner_count;
  Leftover leftover[kBoxThreads / 32];
  int middle_x, middle_y;  // whole displacement of the tile's middle at the start
};
static_assert(kBoxMoved <= 76);

// Sums two products over the windows of this thread's pixels: in runs of rows into shared memory, then down a
// column. products(row, column): of a pixel of the tile and its surroundings. All threads of the block call
// it.
template <typename Sum, typename Products>
__device__ inline void box_filter(BoxTile &tile, int window, const Products &products,
                                  Sum (&first)[kPerThread], Sum (&second)[kPerThread]) {
  const int rows = kBoxSide + window - 1;
  for (int i = static_cast<int>(threadIdx.x); i < rows * (kBoxSide / kBoxRun); i += kBoxThreads) {
    const int row = i % rows, column = i / rows * kBoxRun;
    int2 sum{0, 0};
    for (int k = 0; k < window; ++k) {
      const int2 p = products(row, column + k);
      sum.x += p.x, sum.y += p.y;
    }
    tile.row_sum[row][column] = sum;
#pragma unroll
    for (int k = 1; k < kBoxRun; ++k) {
      const int2 gone = products(row, column + k - 1), come = products(row, column + k - 1 + window);
      sum.x += come.x - gone.x, sum.y += come.y - gone.y;
      tile.row_sum[row][column + k] = sum;
    }
  }
  __syncthreads();
  const int column = static_cast<int>(threadIdx.x) % kBoxSide,
            row = static_cast<int>(threadIdx.x) / kBoxSide * kPerThread;
  Sum a = 0, b = 0;
  for (int k = 0; k < window; ++k) {
    const int2 s = tile.row_sum[row + k][column];
    a += s.x, b += s.y;
  }
  first[0] = a, second[0] = b;
#pragma unroll
  for (int k = 1; k < kPerThread; ++k) {
    const int2 gone = tile.row_sum[row + k - 1][column], come = tile.row_sum[row + k - 1 + window][column];
    a += come.x, b += come.y;
    a -= gone.x, b -= gone.y;
    first[k] = a, second[k] = b;
  }
  __syncthreads();
}

// A thread's pixels.
struct BoxPixels {
  Tracker track[kPerThread];
};

// Where in BoxTile::requests a cell is counted; -1: too far from the middle's.
__device__ inline int request_of(const BoxTile &tile, const Cell &cell) {
  const int x = cell.x - tile.middle_x + kBoxMargin, y = cell.y - tile.middle_y + kBoxMargin;
  return x >= 0 && x < kBoxCells && y >= 0 && y < kBoxCells ? kBoxCells * y + x : -1;
}

__device__ inline bool is_shared(const BoxTile &tile, const Tracker &t) {
  if (!t.running) return false;
  const int request = request_of(tile, cell_of(t.d));
  return request >= 0 && tile.requests[request] >= kLeastShared;
}

// Lists the whole displacements at the corners of the cells that many wait for. They come in any order.
__device__ inline void list_corners(BoxTile &tile, const BoxPixels &pixels) {
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kBoxCells * kBoxCells) tile.requests[thread] = 0;
  if (thread == 0) tile.corner_count = 0;
  __syncthreads();
  for (const Tracker &t : pixels.track)
    if (const int request = t.running ? request_of(tile, cell_of(t.d)) : -1; request >= 0)
      atomicAdd(&tile.requests[request], 1);
  __syncthreads();
  if (thread < kBoxCorners * kBoxCorners) {
    const int x = thread % kBoxCorners, y = thread / kBoxCorners;
    int most = 0;
    for (int cy = max(y - 1, 0); cy <= min(y, kBoxCells - 1); ++cy)
      for (int cx = max(x - 1, 0); cx <= min(x, kBoxCells - 1); ++cx)
        most = max(most, tile.requests[kBoxCells * cy + cx]);
    if (most >= kLeastShared) tile.corners[atomicAdd(&tile.corner_count, 1)] = thread;
  }
  __syncthreads();
}

// One round for all pixels of the tile; false when no cell is waited for by many.
__device__ inline bool advance_together(const DeviceWork &work, const Place (&places)[kPerThread],
                                        BoxTile &tile, BoxPixels &pixels) {
  list_corners(tile, pixels);
  if (tile.corner_count == 0) return false;
  CellSums e[kPerThread] = {};
  for (int i = 0; i < tile.corner_count; ++i) {
    const int x = tile.corners[i] % kBoxCorners, y = tile.corners[i] / kBoxCorners;
    int x_sum[kPerThread], y_sum[kPerThread];
    box_filter(
        tile, work.rules.window,
        [&](int row, int column) {
          const Gradient g = tile.gradient[row][column];
          const int j = tile.to[row + y][column + x];
          return int2{g.x * j, g.y * j};
        },
        x_sum, y_sum);
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      const Cell cell = cell_of(pixels.track[k].d);
      const int right = x + tile.middle_x - kBoxMargin - cell.x,
                below = y + tile.middle_y - kBoxMargin - cell.y;
#pragma unroll
      for (int corner = 0; corner < 4; ++corner)
        if (right == corner % 2 && below == corner / 2) e[k].x[corner] = x_sum[k], e[k].y[corner] = y_sum[k];
    }
  }
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    Tracker &t = pixels.track[k];
    if (!is_shared(tile, t)) continue;
    const int2 from = tile.from_sum[threadIdx.x / kBoxSide * kPerThread + k][threadIdx.x % kBoxSide];
#pragma unroll
    for (int corner = 0; corner < 4; ++corner) e[k].x[corner] -= from.x, e[k].y[corner] -= from.y;
    const Cell cell = cell_of(t.d);
    do {
      step(places[k], work.rules, interpolate(e[k], t.d), &t);
    } while (t.running && is_same_cell(cell_of(t.d), cell));
  }
  __syncthreads();
  return true;
}

// Hands the pixels that still run to the kernel behind; those that find no room are finished here.
__device__ inline void leave(const DeviceWork &work, const LeftoverList &list,
                             const Place (&places)[kPerThread], BoxTile &tile, const BoxPixels &pixels) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Leftover &here = tile.leftover[threadIdx.x / 32];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const int2 from = tile.from_sum[threadIdx.x / kBoxSide * kPerThread + k][threadIdx.x % kBoxSide];
    const Leftover mine{pixels.track[k], places[k].x, places[k].y, from.x, from.y};
    const unsigned running = __ballot_sync(kFullWarp, mine.track.running);
    if (running == 0) continue;
    unsigned first = 0;
    if (lane == 0) first = atomicAdd(list.count, static_cast<unsigned>(__popc(running)));
    first = __shfl_sync(kFullWarp, first, 0);
    const unsigned index = first + static_cast<unsigned>(__popc(running & ((1u << lane) - 1)));
    if (mine.track.running && index < list.capacity) list.pixels[index] = mine;
    for (unsigned rest = __ballot_sync(kFullWarp, mine.track.running && index >= list.capacity); rest != 0;
         rest &= rest - 1) {
      if (lane == __ffs(static_cast<int>(rest)) - 1) here = mine;
      __syncwarp();
      finish_by_warp(work, here);
      __syncwarp();
    }
  }
}

// Copies what a tile's windows read of I and of its derivatives.
__device__ inline void load_windows(const DeviceWork &work, int x0, int y0, BoxTile &tile) {
  const int side = kBoxSide + work.rules.window - 1;
  for (int i = static_cast<int>(threadIdx.x); i < side * side; i += kBoxThreads) {
    const int column = i % side, row = i / side, x = x0 + column, y = y0 + row;
    const bool inside = x >= 0 && y >= 0 && x < work.from.width && y < work.from.height;
    tile.gradient[row][column] = inside ? work.gradient.row(y)[x] : Gradient{0, 0};
    tile.from[row][column] = inside ? work.from.row(y)[x] : std::uint8_t{0};
  }
}

// And what displacements near the middle's read of J.
__device__ inline void load_displaced(const DeviceWork &work, int x0, int y0, BoxTile &tile) {
  const int side = kBoxSide + work.rules.window - 1 + kBoxCorners;
  for (int i = static_cast<int>(threadIdx.x); i < side * side; i += kBoxThreads)
    tile.to[i / side][i % side] =
        work.to.row(mirror_index(y0 + i / side, work.to.height))[mirror_index(x0 + i % side, work.to.width)];
}

// Starts the iterations: the tensors, and what of the sums over cells is the same for all cells.
__device__ inline void start_together(const Rules &rules, const Place (&places)[kPerThread],
                                      const FlowVector (&start)[kPerThread], BoxTile &tile,
                                      BoxPixels &pixels) {
  const auto of_gradient = [&](const auto &products) {
    return [&](int row, int column) {
      return products(tile.gradient[row][column], int{tile.from[row][column]});
    };
  };
  Tensor s[kPerThread];
  long long a[kPerThread], b[kPerThread];
  box_filter(tile, rules.window, of_gradient([](Gradient g, int) {
               return int2{g.x * g.x, g.x * g.y};
             }),
             a, b);
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) s[k].xx = scaled(a[k]), s[k].xy = scaled(b[k]);
  box_filter(tile, rules.window, of_gradient([](Gradient g, int) { return int2{g.y * g.y, 0}; }), a, b);
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) s[k].yy = scaled(a[k]);
  int x_from[kPerThread], y_from[kPerThread];
  box_filter(tile, rules.window, of_gradient([](Gradient g, int i) {
               return int2{g.x * i, g.y * i};
             }),
             x_from, y_from);
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    tile.from_sum[threadIdx.x / kBoxSide * kPerThread + k][threadIdx.x % kBoxSide] = {x_from[k], y_from[k]};
    pixels.track[k] = start_tracking(places[k], rules, s[k], start[k]);
    if (!is_in_picture(places[k])) pixels.track[k].running = false;
  }
}

static __global__ void __launch_bounds__(kBoxThreads, 2)
    track_tiles_kernel(const __grid_constant__ DeviceWork work, LeftoverList list) {
  __shared__ BoxTile tile;
  const int window = work.rules.window, radius = window / 2;
  const Size size = work.fine.size;
  const int x0 = static_cast<int>(blockIdx.x) * kBoxSide, y0 = static_cast<int>(blockIdx.y) * kBoxSide;
  const int column = static_cast<int>(threadIdx.x) % kBoxSide,
            row = static_cast<int>(threadIdx.x) / kBoxSide * kPerThread;
  load_windows(work, x0 - radius, y0 - radius, tile);

  Place places[kPerThread];
  FlowVector start[kPerThread];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const Place &place = places[k] = {x0 + column, y0 + row + k, size};
    start[k] = {};
    if (!is_in_picture(place)) continue;
    start[k] = start_of(work.coarse, place.x, place.y);
    if (place.x == min(x0 + kBoxSide / 2, size.width - 1) &&
        place.y == min(y0 + kBoxSide / 2, size.height - 1)) {
      const Cell cell = reaches_picture(place, start[k], window) ? cell_of(start[k]) : Cell{};
      tile.middle_x = cell.x, tile.middle_y = cell.y;
    }
  }
  __syncthreads();

  BoxPixels pixels;
  start_together(work.rules, places, start, tile, pixels);
  load_displaced(work, x0 - radius + tile.middle_x - kBoxMargin, y0 - radius + tile.middle_y - kBoxMargin,
                 tile);

  while (advance_together(work, places, tile, pixels)) {
  }
  leave(work, list, places, tile, pixels);
#pragma unroll
  for (int k = 0; k < kPerThread; ++k)
    if (is_in_picture(places[k]) && !pixels.track[k].running)
      store(work, places[k].x, places[k].y, pixels.track[k]);
}

}  // namespace cudavision::opticalflow
