// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel for levels that have a vector only at some pixels, and for small levels: a warp reads the windows of its
// vectors from global memory. Also the kernels of the forward-backward check and of regions (Places).
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/launch_cuda.h"
#include "cuda/common/static_shared.cuh"
#include "cuda/opticalflow/flow_by_warp.cuh"

namespace cudavision::opticalflow {

// The threads of a block: few, so that the shared memory of kPixels vectors per warp is small enough.
constexpr int kGridThreads = 64;

// Computes the vectors of a level, kPixels per warp (flow_by_warp.cuh).
template <int kSteps, int kWindow, int kPixels>
static __global__ void __launch_bounds__(kGridThreads, resident_warps(kSteps) / (kGridThreads / 32))
    track_grid_kernel(const __grid_constant__ DeviceWork work) {
  using Warp = WarpTracker<kSteps, kWindow, kPixels>;
  CUDAVISION_SHARED(typename Warp::Storage[kGridThreads / 32], storage);
  const ImageView<FlowVector> &vectors = work.fine.vectors;
  const int thread = static_cast<int>(blockIdx.x) * kGridThreads + static_cast<int>(threadIdx.x),
            count = vectors.width * vectors.height;
  // Lanes of the last warp without a vector of their own compute the last vector once more, and do not store it.
  const int i = thread / Warp::kGroup, row = min(i, count - 1) / vectors.width,
            column = min(i, count - 1) - row * vectors.width;
  const Place place{column * work.fine.stride, row * work.fine.stride, work.fine.size};
  if (!__any_sync(kFullWarp, work.places.contain(place.x, place.y))) {
    wait_for_kernel_ahead();
    return;
  }
  // As in track_tiles_kernel: on all levels but the coarsest, I and its derivatives are already complete.
  const bool is_coarsest = work.coarse.vectors.data == nullptr;
  if (is_coarsest) wait_for_kernel_ahead();
  Warp warp(work, &storage[threadIdx.x / 32]);
  warp.load(place.x, place.y);
  const StartSums at_start = warp.start();
  wait_for_kernel_ahead();
  let_next_kernel_start();
  const FlowVector start = start_of(work.coarse, place.x, place.y);
  const Tracker found =
      warp.finish(start_tracking(place, rules_of<kWindow>(work), at_start.tensor, start), at_start.from);
  if (i < count && threadIdx.x % Warp::kGroup == 0) store(work, column, row, found);
}

// The columns and rows of vectors of a block in the next two kernels, one vector per thread.
constexpr int kCheckX = 32, kCheckY = 8;
constexpr int kCheckThreads = kCheckX * kCheckY;

// Sets the vectors outside of the places to 0 and marks them as invalid.
static __global__ void __launch_bounds__(kCheckThreads)
    clear_others_kernel(const __grid_constant__ Places places, Field fine, ImageView<std::uint8_t> valid) {
  wait_for_kernel_ahead();
  let_next_kernel_start();
  const int column = static_cast<int>(blockIdx.x) * kCheckX + static_cast<int>(threadIdx.x) % kCheckX;
  const int row = static_cast<int>(blockIdx.y) * kCheckY + static_cast<int>(threadIdx.x) / kCheckX;
  if (column >= valid.width || row >= valid.height || places.contain(column * fine.stride, row * fine.stride))
    return;
  fine.vectors.row(row)[column] = {};
  valid.row(row)[column] = 0;
}

// The forward-backward check: marks the vectors that do not come back as invalid.
static __global__ void __launch_bounds__(kCheckThreads, 3)
    check_way_back_kernel(ImageView<const FlowVector> flow, int stride, ImageView<const FlowVector> back,
                          float distance, ImageView<std::uint8_t> valid) {
  wait_for_kernel_ahead();
  let_next_kernel_start();
  const int column = static_cast<int>(blockIdx.x) * kCheckX + static_cast<int>(threadIdx.x) % kCheckX;
  const int row = static_cast<int>(blockIdx.y) * kCheckY + static_cast<int>(threadIdx.x) / kCheckX;
  if (column >= flow.width || row >= flow.height) return;
  if (!comes_back(column * stride, row * stride, flow.row(row)[column], back, distance))
    valid.row(row)[column] = 0;
}

}  // namespace cudavision::opticalflow
