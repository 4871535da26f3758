// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels before and after the filling: a frame becomes words, candidates are marked, words become the
// frame.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/last_block.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/inpaint/diffusion_rules.h"
#include "cuda/inpaint/fill_task.cuh"

namespace cudavision::inpaint {
namespace {

constexpr int kBlockX = 32, kBlockY = 8;
constexpr int kLightThreads = 256;

// The changes of pixels that are not removed and were seen before, counted; the last block says what light
// does, and clears the counts and the counter of blocks for the next frame.
__global__ void __launch_bounds__(kLightThreads)
    find_light_kernel(InpaintFrame frame, FillTask task, LightCounts *all, unsigned *blocks_done,
                      LightChange *light) {
  __shared__ LightCounts counts;
  __shared__ Stretch stretches[3 * kLevels];
  __shared__ bool last;
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < kLightBins; i += kLightThreads) counts.changes[i] = 0;
  if (thread < 3 * kLevels) counts.brightness[thread] = 0;
  __syncthreads();
  const int pixels = task.width * task.height;
  for (int i = static_cast<int>(blockIdx.x) * kLightThreads + thread; i < pixels;
       i += static_cast<int>(gridDim.x) * kLightThreads) {
    const int x = i % task.width, y = i / task.width;
    if (!task.moment.remembers(task.background.seen[i]) || is_removed(frame.frame, frame.mask, x, y))
      continue;
    const std::uint32_t word = pixel_word(frame.frame, x, y);
    for (int c = 0; c < 3; ++c) {
      const int before = to_level(task.background.component[c][i]), now = byte_of(word, c);
      const int stretch = stretch_of(c, before, now);
      atomicAdd(&counts.changes[stretch * kChanges + place_of_change(before, now)], 1u);
      atomicAdd(&counts.brightness[stretch], static_cast<unsigned long long>(before + now) / 2);
    }
  }
  __syncthreads();
  for (int i = thread; i < kLightBins; i += kLightThreads)
    if (counts.changes[i] != 0) atomicAdd(&all->changes[i], counts.changes[i]);
  if (thread < 3 * kLevels && counts.brightness[thread] != 0)
    atomicAdd(&all->brightness[thread], counts.brightness[thread]);
  if (!is_last_block(blocks_done, gridDim.x, &last)) return;
  for (int i = thread; i < kLightBins; i += kLightThreads) {
    counts.changes[i] = __ldcg(&all->changes[i]);
    all->changes[i] = 0;
  }
  if (thread == 0) *blocks_done = 0;
  __syncthreads();
  if (thread < 3 * kLevels) {
    stretches[thread] = stretch_from(&counts.changes[thread * kChanges], __ldcg(&all->brightness[thread]));
    all->brightness[thread] = 0;
  }
  __syncthreads();
  if (thread < 3) light->line[thread] = line_through(&stretches[thread * kLevels]);
}

// Words of all pixels, the hole and its bounds.
__global__ void __launch_bounds__(kBlockX *kBlockY) load_kernel(InpaintFrame frame, FillTask task) {
  const int x = static_cast<int>(blockIdx.x * kBlockX + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * kBlockY + threadIdx.y);
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0 && threadIdx.y == 0) task.next_frame->reset();
  const bool inside = x < task.width && y < task.height;
  bool removed = false, remembered = false;
  if (inside) {
    const int i = y * task.width + x;
    removed = is_removed(frame.frame, frame.mask, x, y);
    std::uint32_t word = pixel_word(frame.frame, x, y);
    if (task.params.temporal)
      remembered =
          follow_background(task.background, i, *task.light, task.moment, removed, frame.frame.model, &word);
    task.pixels[i] = word;
    task.features[i] = feature_of(word, frame.frame.model, frame.matrix, task.lab);
    task.removed[i] = removed ? kUnfilled : 0;
    task.hole[i] = removed && !remembered ? kUnfilled : 0;
  }
  const bool unfilled = removed && !remembered;
  // A warp is a row of the block.
  const unsigned removed_lanes = __ballot_sync(kFullWarp, removed),
                 unfilled_lanes = __ballot_sync(kFullWarp, unfilled);
  if (threadIdx.x != 0 || removed_lanes == 0) return;
  InpaintReport &report = task.frame->report;
  atomicAdd(&report.removed, __popc(removed_lanes));
  if (removed_lanes != unfilled_lanes)
    atomicAdd(&report.remembered, __popc(removed_lanes) - __popc(unfilled_lanes));
  if (unfilled_lanes == 0) return;
  Bounds &hole = task.frame->hole;
  atomicMin(&hole.x0, x + __ffs(static_cast<int>(unfilled_lanes)) - 1);
  atomicMax(&hole.x1, x + 32 - __clz(static_cast<int>(unfilled_lanes)));
  atomicMin(&hole.y0, y);
  atomicMax(&hole.y1, y + 1);
}

// Marks the middles of patches that lie in the picture and outside of the hole: rows first, then columns.
__global__ void __launch_bounds__(kBlockX *kBlockY) mark_sources_kernel(FillTask task) {
  constexpr int kSide = 32, kMargin = kMaxPatchSize / 2, kWide = kSide + 2 * kMargin,
                kThreads = kBlockX * kBlockY;
  __shared__ std::uint8_t hole[kWide][kWide], clear_rows[kWide][kSide];
  const int thread = static_cast<int>(threadIdx.y * kBlockX + threadIdx.x),
            radius = task.params.patch_size / 2;
  const int x0 = static_cast<int>(blockIdx.x) * kSide, y0 = static_cast<int>(blockIdx.y) * kSide;
  const int wide = kSide + 2 * radius;
  for (int i = thread; i < wide * wide; i += kThreads) {
    const int x = x0 - radius + i % wide, y = y0 - radius + i / wide;
    const bool inside = x >= 0 && y >= 0 && x < task.width && y < task.height;
    hole[i / wide][i % wide] = inside ? task.hole[y * task.width + x] : kUnfilled;
  }
  __syncthreads();
  for (int i = thread; i < wide * kSide; i += kThreads) {
    std::uint8_t any = 0;
    for (int k = 0; k <= 2 * radius; ++k) any |= hole[i / kSide][i % kSide + k];
    clear_rows[i / kSide][i % kSide] = any == 0;
  }
  __syncthreads();
  bool found = false;
  for (int i = thread; i < kSide * kSide; i += kThreads) {
    const int x = x0 + i % kSide, y = y0 + i / kSide;
    std::uint8_t clear = 1;
    for (int k = 0; k <= 2 * radius; ++k) clear &= clear_rows[i / kSide + k][i % kSide];
    if (x >= task.width || y >= task.height) continue;
    task.sources[y * task.width + x] = clear;
    found |= clear != 0;
  }
  if (__syncthreads_or(found) && thread == 0) atomicOr(&task.frame->sources, 1);
}

// A thread for each cell of chroma.
__global__ void __launch_bounds__(kBlockX *kBlockY) store_kernel(InpaintFrame frame, FillTask task) {
  const int x = static_cast<int>(blockIdx.x * kBlockX + threadIdx.x) << cell_shift_x(frame.frame);
  const int y = static_cast<int>(blockIdx.y * kBlockY + threadIdx.y) << cell_shift_y(frame.frame);
  if (task.frame->report.refused || x >= task.width || y >= task.height) return;
  if (task.removed[y * task.width + x] == 0) return;
  write_cell(frame, x, y, [&task](int i, int j) { return task.pixels[j * task.width + i]; });
}

}  // namespace
}  // namespace cudavision::inpaint
