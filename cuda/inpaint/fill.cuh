// SPDX-License-Identifier: LGPL-2.1-or-later
// The fill kernel: one cooperative launch whose blocks run until the hole is filled.
//
// The candidates are divided among the blocks. All other work is small, and each block does all of it on its
// own copy of the state in shared memory. The copies stay equal because every step is deterministic, so the
// blocks only have to agree on the best candidate. If the area around the hole does not fit into shared
// memory, there is one state in global memory, which the first block maintains, and a grid barrier per patch.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/async_copy.cuh"
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
  const unsigned filled = row < size ? __ldcg(&all.filled[row]) : 0;
  if (row < size) own.feature[row][column] = __ldcg(&all.feature[row][column]);
  if (thread / 32 * 2 < size) list_quads(row, column, filled, shared);
  if (thread < size) own.filled[thread] = __ldcg(&all.filled[thread]);
  if (thread == 0) own.key = __ldcg(&all.key);
  __syncthreads();
}

// Forgets the last search. One thread calls it.
__device__ inline void begin_search(FillShared *shared) {
  shared->least_sum = kNoCandidate - 1;
  shared->whole_quads = shared->part_quads = 0;
}

// Fills the hole, whose bounds are given, with patches. Returns true if it was stopped before the end. kOwnState: the
// state fits into shared memory, which is `memory`. It is a constant so that the compiler knows where the state lies.
template <bool kOwnState, typename Radius>
__device__ inline bool fill_hole(const FillTask &task, Bounds bounds, Radius radius, unsigned char *memory,
                                 GridBarrier *grid) {
  auto *shared = reinterpret_cast<FillShared *>(memory);
  GridMinimum minimum(task.minima);
  const bool first_block = blockIdx.x == 0, keeps_state = kOwnState || first_block;
  const int search_radius = task.params.search_radius, most = task.params.max_patches;
  const Size size{task.width, task.height};
  const int everywhere = task.width > task.height ? task.width : task.height;
  const Region area = area_around(bounds, radius, task.width, task.height);
  const RatingScratch scratch = scratch_in(memory + kFillSharedBytes, radius);
  std::size_t used = kFillSharedBytes + scratch_bytes(radius);
  FillState state = kOwnState ? state_in(memory + used, area) : task.global_state;
  state.area = area;
  if (kOwnState) used += state_bytes(area);
  const CellsOfBlock cells(task, radius, memory + used, task.shared_bytes - static_cast<int>(used));
  cells.load(task);
  // Guesses with these shifts are the target itself, which lies in the hole and is no candidate.
  if (threadIdx.x < kFillWarps) shared->recent[threadIdx.x] = {0, 0};
  if (threadIdx.x == 0) {
    begin_search(shared);
    shared->stop.x = 0;
  }
  __syncthreads();
  if (keeps_state) begin_state(task, state, radius, scratch, shared);

  int patches = 0;
  for (;; ++patches) {
    if (keeps_state) take_target(state, radius, shared);
    if (!kOwnState) share_target(task, shared, grid);
    if (shared->target.key == 0 || (most > 0 && patches == most)) break;
    const Place target = place_of_target(shared->target.key);
    // The host's memory is far away, but its word is needed only after the search.
    if (first_block && threadIdx.x == 0 && task.stop != nullptr)
      begin_copy_from_host(&shared->stop, task.stop);
    Bounds window = search_window(size, target, radius, search_radius == 0 ? everywhere : search_radius);
    Key best, known = try_recent(task, target, radius, window, shared);
    if (keeps_state) give_confidence(state, target, radius, shared);
    __syncthreads();
    // What does not depend on the source is done beside the search, and while the blocks wait for one another.
    if (keeps_state) {
      const RatedWindow rated = rated_window(state, *shared, radius);
      list_front(state, rated.inner, radius, shared);
      sum_confidences(state, rated, radius, scratch);
    }
    FrontPixel front{};
    do {
      const Key found = search_cells(task, cells, target, window, known, shared);
      end_copies();
      minimum.publish(threadIdx.x == 0 && shared->stop.x != 0 ? kStopped : found);
      const Key looked = minimum.look();
      if (keeps_state)
        front = first_front_pixel(state, rated_window(state, *shared, radius), radius, scratch, *shared);
      best = minimum.collect(looked, shared->per_warp);
      // Where no candidate is near, the whole picture is searched.
      window = search_window(size, target, radius, everywhere), known = kNoSource;
    } while (best == kNoSource);
    if (best == kStopped) break;
    const Place source = place_of_source(best);
    const Shift shift{source.x - target.x, source.y - target.y};
    if (threadIdx.x == 0) {
      shared->recent[patches % kFillWarps] = shift;
      begin_search(shared);
      if (first_block && patches < task.log.capacity)
        task.log.steps[patches] = {target.y * task.width + target.x, source.y * task.width + source.x};
    }
    if (keeps_state) put_patch(task, state, shift, radius, first_block, front, scratch, *shared);
  }
  if (first_block && threadIdx.x == 0) task.frame->report.patches = patches;
  return shared->target.key != 0 && (most == 0 || patches < most);
}

template <typename Radius>
static __global__ void __launch_bounds__(kFillThreads, 1) fill_kernel(FillTask task, Radius radius) {
  CUDAVISION_DYNAMIC_SHARED(unsigned char, memory);
  InpaintReport &report = task.frame->report;
  const Bounds bounds = task.frame->hole;
  if (bounds.x1 == 0) return;  // there is nothing to fill
  if (task.frame->sources == 0) {
    if (blockIdx.x == 0 && threadIdx.x == 0) report.refused = true, report.remembered = 0;
    return;
  }
  GridBarrier grid(&task.frame->blocks_that_arrived);
  const Region area = area_around(bounds, radius, task.width, task.height);
  const std::size_t needed = kFillSharedBytes + scratch_bytes(radius) + state_bytes(area);
  const bool stopped = needed <= static_cast<std::size_t>(task.shared_bytes)
                           ? fill_hole<true>(task, bounds, radius, memory, &grid)
                           : fill_hole<false>(task, bounds, radius, memory, &grid);
  if (stopped && blockIdx.x == 0 && threadIdx.x == 0) report.stopped = true;
  if (!stopped && task.params.max_patches > 0) diffuse(task, bounds, &grid);
}

}  // namespace cudavision::inpaint
