// SPDX-License-Identifier: LGPL-2.1-or-later
// Pixels that no others share their sums with: a few per cent, but some of them enter dozens of cells, and
// many lie in the same tile. They are listed, and a kernel of their own deals them out to all warps of the
// device.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/common/buffer.h"
#include "cuda/common/last_block.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/opticalflow/flow_window.cuh"

namespace cudavision::opticalflow {

constexpr int kLeftoverThreads = 256;

// A pixel whose iterations are finished by themselves.
struct Leftover {
  Tracker track;
  int x, y;
  int x_from, y_from;  // sum (Ix, Iy) I
};

// On the device. count goes beyond capacity when pixels find no room. Between levels both counters are 0.
struct LeftoverList {
  Leftover *pixels;
  unsigned capacity;
  unsigned *count, *blocks_done;
};

// The sums of one cell over the window around a pixel, each of whose columns is a lane's. All lanes call it
// alike, and get the sums.
__device__ inline CellSums correlate_by_lanes(const DeviceWork &work, const Leftover &pixel) {
  const Place place{pixel.x, pixel.y, work.fine.size};
  const Cell cell = cell_of(pixel.track.d);
  const Bounds window = window_in(place, work.rules.window);
  const int x = window.x0 + static_cast<int>(threadIdx.x) % 32;
  CellSums e = {};
  if (x < window.x1)
    e = with_rows({}, whole(work.to), window, cell, [&](const auto &to) {
      return correlate(whole(work.gradient), {x, window.y0, x + 1, window.y1}, cell, to);
    });
  for (int k = 0; k < 4; ++k) {
    e.x[k] = warp_sum(e.x[k]) - pixel.x_from;
    e.y[k] = warp_sum(e.y[k]) - pixel.y_from;
  }
  return e;
}

// Takes a pixel to its end. All lanes of a warp call it alike.
__device__ inline void finish_by_warp(const DeviceWork &work, Leftover pixel) {
  const Place place{pixel.x, pixel.y, work.fine.size};
  Tracker &t = pixel.track;
  while (t.running) {
    const Cell cell = cell_of(t.d);
    const CellSums e = correlate_by_lanes(work, pixel);
    do {
      step(place, work.rules, interpolate(e, t.d), &t);
    } while (t.running && is_same_cell(cell_of(t.d), cell));
  }
  if (threadIdx.x % 32 == 0) store(work, place.x, place.y, t);
}

// Finishes the pixels of all tiles that are left, a warp each, and empties the list.
static __global__ void __launch_bounds__(kLeftoverThreads)
    finish_leftovers_kernel(const __grid_constant__ DeviceWork work, LeftoverList list) {
  __shared__ bool is_last;
  const unsigned count = min(*list.count, list.capacity), warps = gridDim.x * (kLeftoverThreads / 32);
  for (unsigned i = (blockIdx.x * kLeftoverThreads + threadIdx.x) / 32; i < count; i += warps)
    finish_by_warp(work, list.pixels[i]);
  if (is_last_block(list.blocks_done, gridDim.x, &is_last) && threadIdx.x == 0)
    *list.count = 0, *list.blocks_done = 0;
}

// The list's memory: of a level's pixels one in 16 finds room.
class Leftovers {
 public:
  Status allocate(Size frame) {
    const std::size_t pixels = static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height);
    int device = 0;
    CUDAVISION_TRY_CUDA(cudaGetDevice(&device));
    CUDAVISION_TRY_CUDA(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
    CUDAVISION_TRY(pixels_.allocate(pixels / 16 + 1));
    return counters_.allocate(2);
  }

  // Before the first level of a frame, and after its last one: only a frame that failed leaves anything
  // behind.
  Status begin(cudaStream_t stream) {
    if (std::exchange(is_empty_, false)) return {};
    return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(counters_.data(), 0, 2 * sizeof(unsigned), stream));
  }
  void end() { is_empty_ = true; }

  LeftoverList list() const {
    return {pixels_.data(), static_cast<unsigned>(pixels_.count()), counters_.data(), counters_.data() + 1};
  }
  Status finish(cudaStream_t stream, const DeviceWork &work) const {
    const int most = divide_up(work.from.width * work.from.height, kLeftoverThreads / 32);
    const dim3 grid(static_cast<unsigned>(std::min(4 * multiprocessors_, most)));
    return CUDAVISION_LAUNCH(finish_leftovers_kernel, grid, dim3(kLeftoverThreads), stream, work, list());
  }

 private:
  DeviceBuffer<Leftover> pixels_;
  DeviceBuffer<unsigned> counters_;
  int multiprocessors_ = 1;
  bool is_empty_ = false;
};

}  // namespace cudavision::opticalflow
