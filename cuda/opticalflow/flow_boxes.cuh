// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel of OpticalFlowMethod::boxes. A block iterates the pixels of a tile together, four per thread. In
// each round it computes, by box filters in shared memory, the sums of every cell that many pixels need next;
// these pixels then step until they leave the cell or finish. When no cell is needed by many pixels any more,
// the unfinished ones are appended to the work list of a second kernel (flow_leftovers.cuh). All sums are
// integers, so that the result does not depend on which kernel computes them.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/warp.cuh"
#include "cuda/opticalflow/flow_leftovers.cuh"

namespace cudavision::opticalflow {

constexpr int kBoxSide = 32;  // side of a tile in pixels; a row of it has one pixel per lane
constexpr int kBoxThreads = 256;
constexpr int kPerThread = kBoxSide * kBoxSide / kBoxThreads;  // pixels of a thread, below each other
constexpr int kBoxRun = 8;  // neighbouring horizontal sums that one thread computes
// The box filters serve cells that differ by at most this many pixels, in x and y, from the cell of the
// tile's middle.
constexpr int kBoxMargin = 4;
constexpr int kBoxCells = 2 * kBoxMargin + 1, kBoxCorners = kBoxCells + 1;  // in x or y
// The number of pixels of a tile that must need a cell so that box filters are cheaper than summing their
// windows one by one.
constexpr int kMinPixelsPerCell = 40;

constexpr int kBoxWindow = kBoxSide + 2 * kMaxRadius, kBoxMoved = kBoxWindow + kBoxCorners;

__device__ inline bool is_in_picture(const Place &place) {
  return place.x < place.size.width && place.y < place.size.height;
}

// The shared memory of a block. Pitches are odd numbers of banks, because the lanes of a warp read
// neighbouring rows.
struct BoxTile {
  ScharrGradient gradient[kBoxWindow][kBoxWindow + 1];  // zero outside the picture
  union {
    std::uint8_t from[kBoxWindow][76];
    std::uint8_t to[kBoxMoved][76];
  };
  int2 row_sum[kBoxWindow][kBoxSide + 1];
  int2 from_sum[kBoxSide][kBoxSide];       // the sum of (Ix, Iy) I over the window of each pixel
  int requests[kBoxCells * kBoxCells];     // pixels that need each cell next
  int corners[kBoxCorners * kBoxCorners];  // corners of the cells to compute; corner_count of them
  int corner_count;
  UnfinishedPixel leftover[kBoxThreads / 32];
  int middle_x, middle_y;  // floor(d) of the tile's middle pixel before the first step
};
static_assert(kBoxMoved <= 76);

// Sums two products over the windows of this thread's pixels: first horizontally into shared memory, kBoxRun
// running sums per thread, then down a column. products(row, column) returns the two products of a pixel of
// the tile with its halo. All threads of the block must call this.
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

// The trackers of a thread's pixels.
struct BoxPixels {
  Tracker track[kPerThread];
};

// The index of a cell in BoxTile::requests, or -1 if the cell is too far from that of the tile's middle.
__device__ inline int request_of(const BoxTile &tile, const DisplacementCell &cell) {
  const int x = cell.x - tile.middle_x + kBoxMargin, y = cell.y - tile.middle_y + kBoxMargin;
  return x >= 0 && x < kBoxCells && y >= 0 && y < kBoxCells ? kBoxCells * y + x : -1;
}

// True if the sums of the pixel's cell have been computed in this round.
__device__ inline bool is_shared(const BoxTile &tile, const Tracker &t) {
  if (!t.running) return false;
  const int request = request_of(tile, cell_of(t.d));
  return request >= 0 && tile.requests[request] >= kMinPixelsPerCell;
}

// Lists the corners of the cells that at least kMinPixelsPerCell pixels need, in any order.
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
    if (most >= kMinPixelsPerCell) tile.corners[atomicAdd(&tile.corner_count, 1)] = thread;
  }
  __syncthreads();
}

// One round for all pixels of the tile. Returns false if no cell is needed by enough pixels.
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
          const ScharrGradient g = tile.gradient[row][column];
          const int j = tile.to[row + y][column + x];
          return int2{g.x * j, g.y * j};
        },
        x_sum, y_sum);
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      const DisplacementCell cell = cell_of(pixels.track[k].d);
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
    const DisplacementCell cell = cell_of(t.d);
    do {
      step(places[k], work.rules, interpolate(e[k], t.d), &t);
    } while (t.running && is_same_cell(cell_of(t.d), cell));
  }
  __syncthreads();
  return true;
}

// Appends the unfinished pixels to the work list (one atomic per warp). Pixels that do not fit are finished
// here.
__device__ inline void append_leftovers(const DeviceWork &work, const LeftoverList &list,
                                        const Place (&places)[kPerThread], BoxTile &tile,
                                        const BoxPixels &pixels) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  UnfinishedPixel &here = tile.leftover[threadIdx.x / 32];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const int2 from = tile.from_sum[threadIdx.x / kBoxSide * kPerThread + k][threadIdx.x % kBoxSide];
    const UnfinishedPixel mine{
        .track = pixels.track[k], .x = places[k].x, .y = places[k].y, .from = {from.x, from.y}};
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
      const Tracker found = finish_by_warp(work, here);
      if (lane == 0) store(work, here.x, here.y, found);
      __syncwarp();
    }
  }
}

// Loads the pixels of I, and their derivatives, that the windows of the tile cover.
__device__ inline void load_windows(const DeviceWork &work, int x0, int y0, BoxTile &tile) {
  const int side = kBoxSide + work.rules.window - 1;
  for (int i = static_cast<int>(threadIdx.x); i < side * side; i += kBoxThreads) {
    const int column = i % side, row = i / side, x = x0 + column, y = y0 + row;
    const bool inside = x >= 0 && y >= 0 && x < work.from.width && y < work.from.height;
    tile.gradient[row][column] = inside ? work.gradient.row(y)[x] : ScharrGradient{0, 0};
    tile.from[row][column] = inside ? work.from.row(y)[x] : std::uint8_t{0};
  }
}

// Loads the pixels of J that the windows cover when they are displaced by a corner of any cell of
// BoxTile::requests.
__device__ inline void load_displaced(const DeviceWork &work, int x0, int y0, BoxTile &tile) {
  const int side = kBoxSide + work.rules.window - 1 + kBoxCorners;
  for (int i = static_cast<int>(threadIdx.x); i < side * side; i += kBoxThreads)
    tile.to[i / side][i % side] =
        work.to.row(mirror_index(y0 + i / side, work.to.height))[mirror_index(x0 + i % side, work.to.width)];
}

// Starts the iterations: computes the structure tensors, and the sums of (Ix, Iy) I, which are the same for
// all cells.
__device__ inline void start_together(const TrackingRules &rules, const Place (&places)[kPerThread],
                                      const FlowVector (&start)[kPerThread], BoxTile &tile,
                                      BoxPixels &pixels) {
  const auto of_gradient = [&](const auto &products) {
    return [&](int row, int column) {
      return products(tile.gradient[row][column], int{tile.from[row][column]});
    };
  };
  StructureTensor s[kPerThread];
  long long a[kPerThread], b[kPerThread];
  box_filter(tile, rules.window, of_gradient([](ScharrGradient g, int) {
               return int2{g.x * g.x, g.x * g.y};
             }),
             a, b);
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) s[k].xx = scaled(a[k]), s[k].xy = scaled(b[k]);
  box_filter(tile, rules.window, of_gradient([](ScharrGradient g, int) { return int2{g.y * g.y, 0}; }), a, b);
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) s[k].yy = scaled(a[k]);
  int x_from[kPerThread], y_from[kPerThread];
  box_filter(tile, rules.window, of_gradient([](ScharrGradient g, int i) {
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
  // All kernels of the flow wait for the kernel ahead before they let the next one start (see opticalflow.cu).
  // So all kernels before the one ahead have finished here, and the pyramids are complete unless the one ahead
  // builds them.
  const bool is_coarsest = work.coarse.vectors.data == nullptr;
  if (is_coarsest) wait_for_kernel_ahead();
  load_windows(work, x0 - radius, y0 - radius, tile);
  wait_for_kernel_ahead();
  let_next_kernel_start();

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
      const DisplacementCell cell =
          reaches_picture(place, start[k], window) ? cell_of(start[k]) : DisplacementCell{};
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
  append_leftovers(work, list, places, tile, pixels);
#pragma unroll
  for (int k = 0; k < kPerThread; ++k)
    if (is_in_picture(places[k]) && !pixels.track[k].running)
      store(work, places[k].x, places[k].y, pixels.track[k]);
}

}  // namespace cudavision::opticalflow
