// SPDX-License-Identifier: LGPL-2.1-or-later
// The diffusion, the last part of the fill kernel: it fills the pixels that the patches have left unfilled.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/grid_barrier.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/inpaint/diffusion_rules.h"
#include "cuda/inpaint/front.cuh"

namespace cudavision::inpaint {

// Calls visit(x, y) for this thread's share of the pixels in the bounds.
template <typename Visit>
__device__ inline void for_each_of_share(Bounds b, const Visit &visit) {
  const int width = b.x1 - b.x0, count = width * (b.y1 - b.y0);
  for (int i = static_cast<int>(blockIdx.x * kFillThreads + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x) * kFillThreads)
    visit(b.x0 + i % width, b.y0 + i / width);
}

// Returns the sum of `own` over all threads of the grid, which must all call this. round: the number of earlier calls.
__device__ inline int count_left(const FillTask &task, int own, int round, GridBarrier *grid) {
  int *left = &task.frame->left[round % 3];
  own = warp_sum(own);
  if (threadIdx.x % 32 == 0 && own != 0) atomicAdd(left, own);
  grid->wait();
  if (blockIdx.x == 0 && threadIdx.x == 0) task.frame->left[(round + 2) % 3] = 0;
  return __ldcg(left);
}

// Fills the pixels that are still unfilled. FillTask::features is no longer needed, and serves as scratch memory.
__device__ inline void diffuse(const FillTask &task, Bounds bounds, GridBarrier *grid) {
  grid->wait();  // until the first block has written its patches
  int own = 0, round = 0;
  for_each_of_share(bounds,
                    [&](int x, int y) { own += __ldcg(&task.hole[y * task.width + x]) == kUnfilled; });
  int left = count_left(task, own, round++, grid);
  if (blockIdx.x == 0 && threadIdx.x == 0) task.frame->report.diffused = left;
  if (left == 0) return;
  // Volatile, because other threads write the marks of this layer meanwhile. The old and the new value of such a mark
  // both mean that its pixel does not belong to the layer before.
  const auto mark_at = [&](int i) -> volatile std::uint8_t & { return task.hole[i]; };
  for (int layer = 0; left > 0; ++layer) {
    own = 0;
    const std::uint8_t before = mark_of_layer(layer - 1);
    for_each_of_share(bounds, [&](int x, int y) {
      const int i = y * task.width + x;
      if (mark_at(i) != kUnfilled) return;
      MeanOfWords mean;
      for_each_neighbour(x, y, task.width, task.height, [&](int nx, int ny) {
        const int n = ny * task.width + nx;
        if (mark_at(n) == before) mean.add(__ldcg(&task.pixels[n]));
      });
      if (mean.count == 0) {
        ++own;
        return;
      }
      task.pixels[i] = mean.value();
      mark_at(i) = mark_of_layer(layer);
    });
    left = count_left(task, own, round++, grid);
  }
  static_assert(kSmoothingRounds % 2 == 0, "the last round must write to the pixels");
  for (int k = 0; k < kSmoothingRounds; ++k) {
    const std::uint32_t *from = k % 2 == 0 ? task.pixels : task.features;
    std::uint32_t *to = k % 2 == 0 ? task.features : task.pixels;
    for_each_of_share(bounds, [&](int x, int y) {
      const int i = y * task.width + x;
      if (__ldcg(&task.hole[i]) == 0) return;
      MeanOfWords mean;
      for_each_neighbour(x, y, task.width, task.height, [&](int nx, int ny) {
        const int n = ny * task.width + nx;
        mean.add(__ldcg(__ldcg(&task.hole[n]) == 0 ? &task.pixels[n] : &from[n]));
      });
      to[i] = mean.value();
    });
    grid->wait();
  }
}

}  // namespace cudavision::inpaint
