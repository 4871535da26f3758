// SPDX-License-Identifier: LGPL-2.1-or-later
// The fill kernel: one cooperative launch whose blocks run until the hole is filled, with one grid barrier
// per patch.
//
// The candidates are divided among the blocks. All other work is small, and each block does all of it on its
// own copy of the state in shared memory. The copies stay equal because every step is deterministic, so the
// blocks only have to agree on the best candidate. If the area around the hole does not fit into shared
// memory, there is one state in global memory, which the first block maintains, and a second grid barrier per
// patch.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/grid_barrier.cuh"
#include "cuda/inpaint/diffusion_rules.h"
#include "cuda/inpaint/front.cuh"

namespace cudavision::inpaint {

// Each thread compares this many candidates at a time, one below the other.
constexpr int kSearchRows = 4;
// The number of target pixels between two comparisons with the best sum.
constexpr int kGroup = 8;

// The centres of the patches in the picture that are at most `reach` columns and rows away from the target.
// The bounds are empty (x1 <= x0 or y1 <= y0) if there are none.
__device__ inline Bounds search_window(const FillTask &task, int target, int reach) {
  const int x = target % task.width, y = target / task.width, radius = task.params.patch_size / 2;
  // These comparisons do not overflow for any reach.
  const int left = x > reach ? x - reach : 0, top = y > reach ? y - reach : 0;
  const int right = reach < task.width - x ? x + reach + 1 : task.width;
  const int bottom = reach < task.height - y ? y + reach + 1 : task.height;
  return {left > radius ? left : radius, top > radius ? top : radius,
          right < task.width - radius ? right : task.width - radius,
          bottom < task.height - radius ? bottom : task.height - radius};
}

// Adds the squared differences of the four bytes of a and b to sum.
__device__ inline unsigned add_squares(std::uint32_t a, std::uint32_t b, unsigned sum) {
  const unsigned difference = __vabsdiffu4(a, b);
  return __dp4a(difference, difference, sum);
}

// The source_key() of one candidate, computed by a warp and returned in all lanes.
__device__ inline Key key_of_candidate(const FillTask &task, const TargetPatch &target, int pixel, int lane) {
  int sum = 0;
  for (int i = lane; i < target.count; i += 32)
    sum = static_cast<int>(
        add_squares(task.features[pixel + target.offset[i]], target.feature[i], static_cast<unsigned>(sum)));
  return source_key(static_cast<std::uint32_t>(warp_sum(sum)), pixel);
}

// Compares the candidates in a tile of 32 columns and kSearchRows rows whose upper left corner is (x0, y0). A
// whole warp calls it. The warp abandons the tile as soon as all of its partial sums exceed the best sum of
// the block.
__device__ inline void search_tile(const FillTask &task, const Bounds &window, const TargetPatch &target,
                                   int x0, int y0, int lane, Key *best) {
  const int x = x0 + lane;
  int pixel[kSearchRows];
  unsigned sum[kSearchRows];
  bool candidate[kSearchRows], any = false;
  for (int k = 0; k < kSearchRows; ++k) {
    // A lane without a candidate compares another pixel and ignores the result.
    const int cx = x < window.x1 ? x : window.x1 - 1, cy = y0 + k < window.y1 ? y0 + k : window.y1 - 1;
    pixel[k] = cy * task.width + cx;
    candidate[k] = x < window.x1 && y0 + k < window.y1 && task.sources[pixel[k]] != 0;
    any = any || candidate[k];
    sum[k] = 0;
  }
  if (!__any_sync(kFullWarp, any)) return;
  const auto limit = static_cast<unsigned>(*static_cast<volatile Key *>(best) >> 32);
  for (int begin = 0; begin < target.count; begin += kGroup) {
    const int end = begin + kGroup < target.count ? begin + kGroup : target.count;
    for (int i = begin; i < end; ++i)
      for (int k = 0; k < kSearchRows; ++k)
        sum[k] = add_squares(task.features[pixel[k] + target.offset[i]], target.feature[i], sum[k]);
    bool over = true;
    for (int k = 0; k < kSearchRows; ++k) over = over && (!candidate[k] || sum[k] > limit);
    if (__all_sync(kFullWarp, over)) return;
  }
  for (int k = 0; k < kSearchRows; ++k) {
    const Key key = source_key(sum[k], pixel[k]);
    if (candidate[k] && key < *static_cast<volatile Key *>(best)) atomicMin(best, key);
  }
}

// Lowers shared->best to the best key of the block's share of the candidates. The search starts in the row of
// the target, because similar patches tend to be near. A whole block calls it; it synchronises the block
// after its last write.
__device__ inline void search_share(const FillTask &task, const Bounds &window, int target,
                                    FillShared *shared) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  if (window.x0 < window.x1 && window.y0 < window.y1) {
    const int columns = divide_up(window.x1 - window.x0, 32),
              bands = divide_up(window.y1 - window.y0, kSearchRows);
    const int tiles = columns * bands;
    const int first_band = clamp_index((target / task.width - window.y0) / kSearchRows, bands);
    for (int i = warp * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x); i < tiles;
         i += kFillWarps * static_cast<int>(gridDim.x)) {
      const int tile = (first_band * columns + i) % tiles;
      search_tile(task, window, shared->target, window.x0 + tile % columns * 32,
                  window.y0 + tile / columns * kSearchRows, lane, &shared->best);
    }
  }
  __syncthreads();
}

// The best candidate of all blocks for the target, or kNoSource. All blocks call it. guess: a pixel that is
// tested first, or -1. round: the number of searches so far.
__device__ inline Key find_source(const FillTask &task, int target, int reach, int guess, FillShared *shared,
                                  int round, GridBarrier *grid) {
  const Bounds window = search_window(task, target, reach);
  const int gx = guess % task.width, gy = guess / task.width;
  if (threadIdx.x == 0) shared->best = kNoSource;
  __syncthreads();
  if (threadIdx.x < 32 && guess >= 0 && gx >= window.x0 && gx < window.x1 && gy >= window.y0 &&
      gy < window.y1 && task.sources[guess] != 0) {
    const Key key = key_of_candidate(task, shared->target, guess, static_cast<int>(threadIdx.x));
    if (threadIdx.x == 0) atomicMin(&shared->best, key);
  }
  search_share(task, window, target, shared);
  Key *best = &task.frame->best[round % 3];
  if (threadIdx.x == 0) atomicMin(best, shared->best);
  grid->wait();
  // All blocks have read the slot of the previous round before they passed this barrier, so it can be reset
  // for the round after the next.
  if (blockIdx.x == 0 && threadIdx.x == 0) task.frame->best[(round + 2) % 3] = kNoSource;
  return __ldcg(best);
}

// --- diffusion ---

// Calls visit(x, y) for this thread's share of the pixels in the bounds.
template <typename Visit>
__device__ inline void for_each_of_share(Bounds b, const Visit &visit) {
  const int width = b.x1 - b.x0, count = width * (b.y1 - b.y0);
  for (int i = static_cast<int>(blockIdx.x * kFillThreads + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x) * kFillThreads)
    visit(b.x0 + i % width, b.y0 + i / width);
}

// The sum of `own` over all threads of the grid. All threads call it. round: the number of such sums so far.
__device__ inline int count_left(const FillTask &task, int own, int round, GridBarrier *grid) {
  int *left = &task.frame->left[round % 3];
  own = warp_sum(own);
  if (threadIdx.x % 32 == 0 && own != 0) atomicAdd(left, own);
  grid->wait();
  if (blockIdx.x == 0 && threadIdx.x == 0) task.frame->left[(round + 2) % 3] = 0;
  return __ldcg(left);
}

// Fills the pixels that are left by the patches. The features are no longer needed and serve as scratch
// memory.
__device__ inline void diffuse(const FillTask &task, Bounds bounds, GridBarrier *grid) {
  grid->wait();  // until the first block has written its patches
  int own = 0, round = 0;
  for_each_of_share(bounds,
                    [&](int x, int y) { own += __ldcg(&task.hole[y * task.width + x]) == kUnfilled; });
  int left = count_left(task, own, round++, grid);
  if (blockIdx.x == 0 && threadIdx.x == 0) task.frame->report.diffused = left;
  if (left == 0) return;
  for (int layer = 0; left > 0; ++layer) {
    own = 0;
    const std::uint8_t before = mark_of_layer(layer - 1);
    for_each_of_share(bounds, [&](int x, int y) {
      const int i = y * task.width + x;
      if (__ldcg(&task.hole[i]) != kUnfilled) return;
      MeanOfWords mean;
      for_each_neighbour(x, y, task.width, task.height, [&](int nx, int ny) {
        const int n = ny * task.width + nx;
        if (__ldcg(&task.hole[n]) == before) mean.add(__ldcg(&task.pixels[n]));
      });
      if (mean.count == 0) {
        ++own;
        return;
      }
      task.pixels[i] = mean.value();
      task.hole[i] = mark_of_layer(layer);
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

// Copies the target of the first block to all blocks.
__device__ inline void share_target(const FillTask &task, FillShared *shared, GridBarrier *grid) {
  TargetPatch &all = task.frame->target;
  const int thread = static_cast<int>(threadIdx.x);
  if (blockIdx.x == 0) {
    for (int i = thread; i < shared->target.count; i += kFillThreads) {
      all.offset[i] = shared->target.offset[i];
      all.feature[i] = shared->target.feature[i];
    }
    if (thread == 0) all.key = shared->target.key, all.count = shared->target.count;
  }
  grid->wait();
  if (blockIdx.x == 0) return;
  const int count = __ldcg(&all.count);
  for (int i = thread; i < count; i += kFillThreads) {
    shared->target.offset[i] = __ldcg(&all.offset[i]);
    shared->target.feature[i] = __ldcg(&all.feature[i]);
  }
  if (thread == 0) shared->target.key = __ldcg(&all.key), shared->target.count = count;
  __syncthreads();
}

static __global__ void __launch_bounds__(kFillThreads, 1) fill_kernel(FillTask task) {
  CUDAVISION_DYNAMIC_SHARED(unsigned char, memory);
  auto *shared = reinterpret_cast<FillShared *>(memory);
  InpaintReport &report = task.frame->report;
  const Bounds bounds = task.frame->hole;
  const bool first = blockIdx.x == 0 && threadIdx.x == 0;
  if (bounds.x1 == 0) return;  // there is nothing to fill
  if (task.frame->sources == 0) {
    if (first) report.refused = true, report.remembered = 0;
    return;
  }
  GridBarrier grid(&task.frame->blocks_that_arrived);
  const int radius = task.params.patch_size / 2, search_radius = task.params.search_radius;
  const int everywhere = task.width > task.height ? task.width : task.height;
  const Region area = area_around(bounds, radius, task.width, task.height);
  const bool own_state = kFillSharedBytes + state_bytes(area) <= static_cast<std::size_t>(task.shared_bytes);
  const bool keeps_state = own_state || blockIdx.x == 0;
  FillState state = own_state ? state_in(memory + kFillSharedBytes, area) : task.global_state;
  state.area = area;
  if (keeps_state) begin_state(task, state);

  int patches = 0, last_target = 0, last_source = -1;
  for (int round = 0;; ++patches) {
    if (keeps_state) take_target(task, state, shared);
    if (!own_state) share_target(task, shared, &grid);
    if (shared->target.key == 0 || (task.params.max_patches > 0 && patches == task.params.max_patches)) break;
    const int target = pixel_of_target(shared->target.key);
    // The first guess is the last source, moved by the same offset as the target. If that crosses the left or
    // right border of the picture, the guess is some other pixel, which does no harm.
    const int guess = last_source < 0 ? -1 : last_source + target - last_target;
    const bool in_picture = guess >= 0 && guess < task.width * task.height;
    Key best = find_source(task, target, search_radius == 0 ? everywhere : search_radius,
                           in_picture ? guess : -1, shared, round++, &grid);
    if (best == kNoSource) best = find_source(task, target, everywhere, -1, shared, round++, &grid);
    last_target = target;
    last_source = pixel_of_source(best);
    if (first && patches < task.log.capacity) task.log.steps[patches] = {target, last_source};
    if (keeps_state) put_patch(task, state, target, last_source, blockIdx.x == 0);
  }
  if (first) report.patches = patches;
  if (task.params.max_patches > 0) diffuse(task, bounds, &grid);
}

}  // namespace cudavision::inpaint
