// SPDX-License-Identifier: LGPL-2.1-or-later
// Leftover pixels: the pixels that are still iterating when too few others of their tile need the same cell.
// They are a few per cent of all pixels, but some of them enter dozens of cells, and many can lie in one
// tile. The kernel of flow_boxes.cuh appends them to a work list, and a second kernel distributes the list
// over all warps of the device. It begins while some tiles are still at work.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/last_block.cuh"
#include "cuda/common/launch.h"
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

// The work list, in device memory. Everything but the pixels is 0 between levels.
struct LeftoverList {
  UnfinishedPixel *pixels;
  unsigned capacity;
  unsigned *is_there;  // of each pixel: not 0 if it has been appended
  unsigned *count;     // exceeds `capacity` if pixels did not fit
  unsigned *taken;     // pixels that warps have taken, but for the first ones of the early warps
  unsigned *blocks_done;
};

// The first warp of a block waits for the end of track_tiles_kernel. The others begin before.
constexpr int kEarlyWarps = kLeftoverThreads / 32 - 1;
// What a block knows of the length of the list before it has ended.
constexpr unsigned kStillGrows = ~0u;

// Waits for pixel i of the list, which track_tiles_kernel may still append. Returns false if the list has ended before.
// length: of the list, in shared memory. A whole warp calls it.
__device__ inline bool wait_for_pixel(const LeftoverList &list, unsigned i,
                                      [[maybe_unused]] const volatile unsigned &length) {
  bool exists = false;
  if (threadIdx.x % 32 == 0 && i < list.capacity) {
#ifdef __CUDA_ARCH__
    for (;;) {
      const unsigned known = length;
      exists = known == kStillGrows ? relaxed_load(&list.is_there[i]) != 0 : i < known;
      if (exists || known != kStillGrows) break;
      __nanosleep(400);
    }
#else
    exists = i < *list.count;  // the kernel ahead has finished
#endif
    if (exists) {
      (void)arrivals_at(&list.is_there[i]);  // acquires the pixel
      list.is_there[i] = 0;
    }
  }
  __syncwarp();  // what the first lane has acquired, all lanes see
  return __shfl_sync(kFullWarp, exists ? 1 : 0, 0) != 0;
}

// Finishes all pixels of the work list, one warp per pixel; the last block then resets the list. A pixel can be taken as
// soon as track_tiles_kernel has appended it. Some pixels take many times as long as others, so a warp takes its next one
// when it needs it.
template <int kSteps, int kWindow>
static __global__ void __launch_bounds__(kLeftoverThreads, leftover_blocks(kSteps))
    finish_leftovers_kernel(const __grid_constant__ DeviceWork work, LeftoverList list) {
  // The kernel ahead may still run, but all before it have finished (see opticalflow.cu).
  let_next_kernel_start();
  __shared__ bool is_last;
  __shared__ unsigned length;
  using Warp = WarpTracker<kSteps, kWindow, 1>;
  __shared__ typename Warp::Storage storage[kLeftoverThreads / 32];
  if (threadIdx.x == 0) length = kStillGrows;
  __syncthreads();
  const auto take = [&] {
    return threadIdx.x % 32 == 0 ? gridDim.x * kEarlyWarps + atomicAdd(list.taken, 1u) : 0;
  };
  const unsigned warp_number = threadIdx.x / 32;
  unsigned i = blockIdx.x * kEarlyWarps + warp_number - 1;
  if (warp_number == 0) {
    wait_for_kernel_ahead();
    if (threadIdx.x == 0) atomicExch(&length, min(*list.count, list.capacity));
    i = __shfl_sync(kFullWarp, take(), 0);
  }
  while (wait_for_pixel(list, i, length)) {
    const unsigned next = take();  // early, so that the answer is there when the pixel is finished
    const UnfinishedPixel pixel = list.pixels[i];
    Warp warp(work, &storage[warp_number]);
    warp.load(pixel.x, pixel.y);
    const Tracker found = warp.finish(pixel.track, pixel.from);
    if (threadIdx.x % 32 == 0) store(work, pixel.x, pixel.y, found);
    i = __shfl_sync(kFullWarp, next, 0);
  }
  if (is_last_block(list.blocks_done, gridDim.x, &is_last) && threadIdx.x == 0)
    *list.count = 0, *list.taken = 0, *list.blocks_done = 0;
}

}  // namespace cudavision::opticalflow
