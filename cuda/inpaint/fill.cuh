// SPDX-License-Identifier: LGPL-2.1-or-later
// The fill kernel: one cooperative launch whose blocks run until the hole is filled.
//
// The candidates are divided among the blocks. All other work is small, and each block does all of it on its
// own copy of the state in shared memory. The copies stay equal because every step is deterministic, so the
// blocks only have to agree on the best candidate. If the area around the hole does not fit into shared
// memory, there is one state in global memory, which the first block maintains, and a grid barrier per patch.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/grid_barrier.cuh"
#include "cuda/inpaint/diffusion.cuh"
#include "cuda/inpaint/exemplar_search.cuh"

namespace cudavision::inpaint {

// Copies the target of the first block to all blocks.
__device__ inline void share_target(const FillTask &task, FillShared *shared, GridBarrier *grid) {
  constexpr int kFeatures = kMaxPatchSize * kTargetColumns;
  static_assert(kFeatures <= kFillThreads);
  TargetPatch &all = task.frame->target, &own = shared->target;
  const int thread = static_cast<int>(threadIdx.x), size = task.params.patch_size;
  const int row = thread / kTargetColumns, column = thread % kTargetColumns;
  if (blockIdx.x == 0) {
    if (row < size) all.feature[row][column] = own.feature[row][column];
    if (thread < size) all.filled[thread] = own.filled[thread];
    if (thread == 0) all.key = own.key;
  }
  grid->wait();
  if (blockIdx.x == 0) return;
  if (row < size) own.feature[row][column] = __ldcg(&all.feature[row][column]);
  if (row < size && column % 4 == 0) list_quad(row, column, __ldcg(&all.filled[row]), shared);
  if (thread < size) own.filled[thread] = __ldcg(&all.filled[thread]);
  if (thread == 0) own.key = __ldcg(&all.key);
  __syncthreads();
}

// Forgets the last search. One thread calls it.
__device__ inline void begin_search(FillShared *shared) {
  shared->best = kNoSource;
  shared->whole_quads = shared->part_quads = 0;
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
  GridMinimum minimum(task.minima);
  const int radius = task.params.patch_size / 2, search_radius = task.params.search_radius;
  const int everywhere = task.width > task.height ? task.width : task.height;
  const Region area = area_around(bounds, radius, task.width, task.height);
  const bool own_state = kFillSharedBytes + state_bytes(area) <= static_cast<std::size_t>(task.shared_bytes);
  const bool keeps_state = own_state || blockIdx.x == 0;
  FillState state = own_state ? state_in(memory + kFillSharedBytes, area) : task.global_state;
  state.area = area;
  // The first targets are no candidates themselves.
  if (threadIdx.x < kFillWarps) shared->recent[threadIdx.x] = {0, 0};
  if (threadIdx.x == 0) begin_search(shared);
  __syncthreads();
  if (keeps_state) begin_state(task, state, shared);
  const std::size_t used = own_state ? kFillSharedBytes + state_bytes(area) : kFillSharedBytes;
  const CellsOfBlock cells(task, memory + used, task.shared_bytes - static_cast<int>(used));
  cells.load(task);

  int patches = 0;
  for (;; ++patches) {
    if (keeps_state) take_target(task, state, shared);
    if (!own_state) share_target(task, shared, &grid);
    if (shared->target.key == 0 || (task.params.max_patches > 0 && patches == task.params.max_patches)) break;
    const Place target = place_of_target(shared->target.key);
    search_cells(task, cells, target, search_radius == 0 ? everywhere : search_radius, shared);
    minimum.publish(shared->best);
    if (keeps_state) announce_patch(task, state, target, shared);
    Key best = minimum.collect(shared->per_warp);
    if (best == kNoSource) {
      search_cells(task, cells, target, everywhere, shared);
      minimum.publish(shared->best);
      best = minimum.collect(shared->per_warp);
    }
    const Place source = place_of_source(best);
    const Shift shift{source.x - target.x, source.y - target.y};
    if (threadIdx.x == 0) {
      shared->recent[patches % kFillWarps] = shift;
      begin_search(shared);
    }
    if (first && patches < task.log.capacity)
      task.log.steps[patches] = {target.y * task.width + target.x, source.y * task.width + source.x};
    if (keeps_state) put_patch(task, state, target, shift, blockIdx.x == 0, *shared);
  }
  if (first) report.patches = patches;
  if (task.params.max_patches > 0) diffuse(task, bounds, &grid);
}

}  // namespace cudavision::inpaint
