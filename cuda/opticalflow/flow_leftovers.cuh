// SPDX-License-Identifier: LGPL-2.1-or-later
// Leftover pixels: the pixels that are still iterating when too few others of their tile need the same cell.
// They are a few per cent of all pixels, but some of them enter dozens of cells, and many can lie in one
// tile. The kernel of flow_boxes.cuh appends them to a work list, and a second kernel distributes the list
// over all warps of the device.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/last_block.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/opticalflow/flow_window.cuh"

namespace cudavision::opticalflow {

constexpr int kLeftoverThreads = 256;

// A pixel whose iteration is not finished.
struct Leftover {
  Tracker track;
  int x, y;
  int x_from, y_from;  // the sum of (Ix, Iy) I
};

// The work list, in device memory. `count` exceeds `capacity` if pixels did not fit. Both counters are 0
// between levels.
struct LeftoverList {
  Leftover *pixels;
  unsigned capacity;
  unsigned *count, *blocks_done;
};

// Returns, in all lanes, the sums of the cell that the pixel's displacement lies in. Each lane adds up one
// column of the window. All lanes of the warp must call this with the same arguments.
__device__ inline CellSums correlate_by_lanes(const DeviceWork &work, const Leftover &pixel) {
  const Place place{pixel.x, pixel.y, work.fine.size};
  const DisplacementCell cell = cell_of(pixel.track.d);
  const PixelRect window = window_in(place, work.rules.window);
  const int x = window.x0 + static_cast<int>(threadIdx.x) % 32;
  CellSums e = {};
  if (x < window.x1)
    e = with_rows({}, whole(work.to), window, cell, [&](const auto &row_of) {
      return correlate(whole(work.gradient), {x, window.y0, x + 1, window.y1}, cell, row_of);
    });
  for (int k = 0; k < 4; ++k) {
    e.x[k] = warp_sum(e.x[k]) - pixel.x_from;
    e.y[k] = warp_sum(e.y[k]) - pixel.y_from;
  }
  return e;
}

// Finishes the iteration of a pixel and stores its vector. All lanes of the warp must call this with the same
// arguments.
__device__ inline void finish_by_warp(const DeviceWork &work, Leftover pixel) {
  const Place place{pixel.x, pixel.y, work.fine.size};
  Tracker &t = pixel.track;
  while (t.running) {
    const DisplacementCell cell = cell_of(t.d);
    const CellSums e = correlate_by_lanes(work, pixel);
    do {
      step(place, work.rules, interpolate(e, t.d), &t);
    } while (t.running && is_same_cell(cell_of(t.d), cell));
  }
  if (threadIdx.x % 32 == 0) store(work, place.x, place.y, t);
}

// Finishes all pixels of the work list, one warp per pixel; the last block then resets the list.
static __global__ void __launch_bounds__(kLeftoverThreads)
    finish_leftovers_kernel(const __grid_constant__ DeviceWork work, LeftoverList list) {
  __shared__ bool is_last;
  const unsigned count = min(*list.count, list.capacity), warps = gridDim.x * (kLeftoverThreads / 32);
  for (unsigned i = (blockIdx.x * kLeftoverThreads + threadIdx.x) / 32; i < count; i += warps)
    finish_by_warp(work, list.pixels[i]);
  if (is_last_block(list.blocks_done, gridDim.x, &is_last) && threadIdx.x == 0)
    *list.count = 0, *list.blocks_done = 0;
}

}  // namespace cudavision::opticalflow
