// SPDX-License-Identifier: LGPL-2.1-or-later
// Leftover pixels: the pixels that are still iterating when too few others of their tile need the same cell.
// They are a few per cent of all pixels, but some of them enter dozens of cells, and many can lie in one
// tile. The kernel of flow_boxes.cuh appends them to a work list, and a second kernel distributes the list
// over all warps of the device.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/last_block.cuh"
#include "cuda/common/launch.h"
#include "cuda/opticalflow/flow_by_lanes.cuh"

namespace cudavision::opticalflow {

constexpr int kLeftoverThreads = 256;

// The work list, in device memory. `count` exceeds `capacity` if pixels did not fit. Both counters are 0
// between levels.
struct LeftoverList {
  UnfinishedPixel *pixels;
  unsigned capacity;
  unsigned *count, *blocks_done;
};

// Finishes all pixels of the work list, one warp per pixel; the last block then resets the list. Neighbours in the list,
// which are neighbours in the picture and often take equally long, go to different warps.
template <int kPairs>
static __global__ void __launch_bounds__(kLeftoverThreads, 3)
    finish_leftovers_kernel(const __grid_constant__ DeviceWork work, LeftoverList list) {
  wait_for_kernel_ahead();
  let_next_kernel_start();
  __shared__ bool is_last;
  const unsigned count = min(*list.count, list.capacity), warps = gridDim.x * (kLeftoverThreads / 32);
  for (unsigned i = (blockIdx.x * kLeftoverThreads + threadIdx.x) / 32; i < count; i += warps) {
    const UnfinishedPixel pixel = list.pixels[i];
    const Tracker found = finish_by_warp<kPairs>(work, pixel);
    if (threadIdx.x % 32 == 0) store(work, pixel.x, pixel.y, found);
  }
  if (is_last_block(list.blocks_done, gridDim.x, &is_last) && threadIdx.x == 0)
    *list.count = 0, *list.blocks_done = 0;
}

}  // namespace cudavision::opticalflow
