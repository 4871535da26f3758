// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels around the fill kernel: they estimate the change of light, convert the frame to pixel words, mark the
// candidates, and write the filled pixels to the frame.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/last_block.cuh"
#include "cuda/common/static_shared.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/inpaint/diffusion_rules.h"
#include "cuda/inpaint/fill_task.cuh"

namespace cudavision::inpaint {

constexpr int kLightThreads = 256;
// The width and height of the tile of a block of mark_sources_kernel.
constexpr int kSourceTile = 32;  // the pixels of a word of FillTask::sources

// Counts how pixels outside of the hole differ from their remembered background. The last block to finish computes the
// change of light, and clears the counts, *blocks_done and *task.differing for the next frame (last-block pattern).
static __global__ void __launch_bounds__(kLightThreads)
    find_light_kernel(InpaintFrame frame, FillTask task, LightCounts *all, unsigned *blocks_done,
                      LightChange *light) {
  CUDAVISION_SHARED(LightCounts, counts);
  CUDAVISION_SHARED(BinChange[kLightBins], bins);
  CUDAVISION_SHARED(bool, last);
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < kChangeCounters; i += kLightThreads) counts.changes[i] = 0;
  if (thread < kLightBins) counts.brightness[thread] = 0;
  __syncthreads();
  const int pixels = task.width * task.height;
  for (int i = static_cast<int>(blockIdx.x) * kLightThreads + thread; i < pixels;
       i += static_cast<int>(gridDim.x) * kLightThreads) {
    const int x = i % task.width, y = i / task.width;
    if (!task.window.remembers(task.background.seen[i]) || is_removed(frame.frame, frame.mask, x, y))
      continue;
    const std::uint32_t word = pixel_word(frame.frame, x, y);
    for (int c = 0; c < 3; ++c) {
      const int before = round_to_byte(task.background.component[c][i]), now = byte_of(word, c);
      const int bin = light_bin(c, before, now);
      atomicAdd(&counts.changes[bin * kChanges + change_index(before, now)], 1u);
      atomicAdd(&counts.brightness[bin], static_cast<unsigned long long>(before + now) / 2);
    }
  }
  __syncthreads();
  for (int i = thread; i < kChangeCounters; i += kLightThreads)
    if (counts.changes[i] != 0) atomicAdd(&all->changes[i], counts.changes[i]);
  if (thread < kLightBins && counts.brightness[thread] != 0)
    atomicAdd(&all->brightness[thread], counts.brightness[thread]);
  if (!is_last_block(blocks_done, gridDim.x, &last)) return;
  for (int i = thread; i < kChangeCounters; i += kLightThreads) {
    counts.changes[i] = __ldcg(&all->changes[i]);
    all->changes[i] = 0;
  }
  if (thread == 0) *blocks_done = 0;
  __syncthreads();
  if (thread < kLightBins) {
    bins[thread] = bin_change(&counts.changes[thread * kChanges], __ldcg(&all->brightness[thread]));
    all->brightness[thread] = 0;
  }
  __syncthreads();
  if (thread < 3) light->line[thread] = line_through(&bins[thread * kBrightnessBins]);
  if (thread != 0) return;
  light->compare(bins, *task.differing);
  *task.differing = 0;
}

// Writes the pixel words and the features of all pixels, the hole, its bounds and its size, and restores the remembered
// pixels. Resets the state of the next frame, and sets FillTask::minima to 0 for the fill kernel.
static __global__ void __launch_bounds__(kBlockX *kBlockY) load_kernel(InpaintFrame frame, FillTask task) {
  const int x = static_cast<int>(blockIdx.x * kBlockX + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * kBlockY + threadIdx.y);
  if (blockIdx.x == 0 && blockIdx.y == 0) {
    const int thread = static_cast<int>(threadIdx.y * kBlockX + threadIdx.x);
    if (thread == 0) task.next_frame->reset();
    for (int i = thread; i < task.minima_count; i += kBlockX * kBlockY) task.minima[i] = 0;
  }
  const bool inside = x < task.width && y < task.height;
  bool removed = false, remembered = false, differs = false;
  if (inside) {
    const int i = y * task.width + x;
    removed = is_removed(frame.frame, frame.mask, x, y);
    std::uint32_t word = pixel_word(frame.frame, x, y);
    if (task.params.temporal) {
      const Followed followed =
          follow_background(task.background, i, *task.light, task.window, removed, frame.frame.model, &word);
      remembered = followed == Followed::restored;
      differs = followed == Followed::differs;
    }
    task.pixels[i] = word;
    task.features[y * task.pitch + x] = feature_of(word, frame.frame.model, frame.matrix, task.lab);
    task.removed[i] = removed ? kUnfilled : 0;
    task.hole[i] = removed && !remembered ? kUnfilled : 0;
  }
  const bool unfilled = removed && !remembered;
  // Each row of the block is one warp.
  const unsigned removed_lanes = __ballot_sync(kFullWarp, removed),
                 unfilled_lanes = __ballot_sync(kFullWarp, unfilled),
                 differing_lanes = __ballot_sync(kFullWarp, differs);
  if (threadIdx.x != 0) return;
  if (differing_lanes != 0) atomicAdd(task.differing, static_cast<unsigned>(__popc(differing_lanes)));
  if (removed_lanes == 0) return;
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

// Marks the centres of the patches that lie completely in the picture and outside of the hole. The test is separable:
// rows first, then columns. The tile in shared memory has a halo of half a patch.
static __global__ void __launch_bounds__(kBlockX *kBlockY) mark_sources_kernel(FillTask task) {
  constexpr int kSide = kSourceTile, kMaxWidth = kSide + kMaxPatchSize / 2 * 2, kThreads = kBlockX * kBlockY;
  CUDAVISION_SHARED(std::uint8_t[kMaxWidth][kMaxWidth], hole);
  CUDAVISION_SHARED(std::uint8_t[kMaxWidth][kSide], clear_rows);
  const int thread = static_cast<int>(threadIdx.y * kBlockX + threadIdx.x),
            radius = task.params.patch_size / 2;
  const int x0 = static_cast<int>(blockIdx.x) * kSide, y0 = static_cast<int>(blockIdx.y) * kSide;
  const int with_halo = kSide + 2 * radius;
  for (int i = thread; i < with_halo * with_halo; i += kThreads) {
    const int x = x0 - radius + i % with_halo, y = y0 - radius + i / with_halo;
    const bool inside = x >= 0 && y >= 0 && x < task.width && y < task.height;
    hole[i / with_halo][i % with_halo] = inside ? task.hole[y * task.width + x] : kUnfilled;
  }
  __syncthreads();
  for (int i = thread; i < with_halo * kSide; i += kThreads) {
    std::uint8_t any = 0;
    for (int k = 0; k <= 2 * radius; ++k) any |= hole[i / kSide][i % kSide + k];
    clear_rows[i / kSide][i % kSide] = any == 0;
  }
  __syncthreads();
  bool found = false;
  for (int i = thread; i < kSide * kSide; i += kThreads) {
    const int x = x0 + i % kSide, y = y0 + i / kSide;
    std::uint8_t clear = x < task.width;
    for (int k = 0; k <= 2 * radius; ++k) clear &= clear_rows[i / kSide + k][i % kSide];
    if (y >= task.height) continue;  // the same for all lanes of the warp, whose pixels lie in one row
    const unsigned word = __ballot_sync(kFullWarp, clear != 0);
    if (i % kSide == 0) task.sources[y * task.source_pitch + x / kSide] = word;
    found |= clear != 0;
  }
  if (__syncthreads_or(found) && thread == 0) atomicOr(&task.frame->sources, 1);
}

// Writes the filled pixels to the frame. Each thread writes one chroma cell.
static __global__ void __launch_bounds__(kBlockX *kBlockY) store_kernel(InpaintFrame frame, FillTask task) {
  const int x = static_cast<int>(blockIdx.x * kBlockX + threadIdx.x) << cell_shift_x(frame.frame);
  const int y = static_cast<int>(blockIdx.y * kBlockY + threadIdx.y) << cell_shift_y(frame.frame);
  if (task.frame->report.refused || task.frame->report.stopped || x >= task.width || y >= task.height) return;
  if (task.removed[y * task.width + x] == 0) return;
  write_cell(frame, x, y, [&task](int i, int j) { return task.pixels[j * task.width + i]; });
}

}  // namespace cudavision::inpaint
