// SPDX-License-Identifier: LGPL-2.1-or-later
// Leftover pixels: the pixels that are still iterating when too few others of their tile need the same cell. They are a
// few per cent of all pixels, but some of them enter dozens of cells, and many can lie in one tile. The kernel of
// flow_boxes.cuh appends them to a work list, and a second kernel distributes the list over all warps of the device.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/last_block.cuh"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/static_shared.cuh"
#include "cuda/opticalflow/flow_by_warp.cuh"

namespace cudavision::opticalflow {

constexpr int kLeftoverThreads = 128;
constexpr int leftover_blocks(int steps) { return resident_warps(steps) / (kLeftoverThreads / 32); }

// A pixel whose iteration is not finished.
struct UnfinishedPixel {
  Tracker track;
  int x, y;
  FromSums from;
};

// The work list, in device memory. The counters are 0 between levels.
struct LeftoverList {
  UnfinishedPixel *pixels;
  unsigned capacity;
  unsigned *count;  // exceeds `capacity` if pixels did not fit
  unsigned *taken;  // how many pixels warps have taken, besides the first of each warp
  unsigned *blocks_done;
};

// Finishes all pixels of the work list, one warp per pixel; the last block then resets the list. Some pixels take many
// times as long as others, so warps take them one at a time.
template <int kSteps, int kWindow>
static __global__ void __launch_bounds__(kLeftoverThreads, leftover_blocks(kSteps))
    finish_leftovers_kernel(const __grid_constant__ DeviceWork work, LeftoverList list) {
  wait_for_kernel_ahead();
  let_next_kernel_start();
  CUDAVISION_SHARED(bool, is_last);
  using Warp = WarpTracker<kSteps, kWindow, 1>;
  CUDAVISION_SHARED(typename Warp::Storage[kLeftoverThreads / 32], storage);
  const unsigned count = min(*list.count, list.capacity), warps = gridDim.x * (kLeftoverThreads / 32);
  for (unsigned i = (blockIdx.x * kLeftoverThreads + threadIdx.x) / 32; i < count;) {
    unsigned next = 0;  // read early, so that it has arrived when the pixel is finished
    if (threadIdx.x % 32 == 0) next = warps + atomicAdd(list.taken, 1u);
    const UnfinishedPixel pixel = list.pixels[i];
    Warp warp(work, &storage[threadIdx.x / 32]);
    warp.load(pixel.x, pixel.y);
    const Tracker found = warp.finish(pixel.track, pixel.from);
    if (threadIdx.x % 32 == 0) store(work, pixel.x, pixel.y, found);
    i = __shfl_sync(kFullWarp, next, 0);
  }
  if (is_last_block(list.blocks_done, gridDim.x, &is_last) && threadIdx.x == 0)
    *list.count = 0, *list.taken = 0, *list.blocks_done = 0;
}

}  // namespace cudavision::opticalflow
