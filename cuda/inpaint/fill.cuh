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

// For the two parts of the block, which come to the same barrier on different paths, as __syncthreads() does not allow.
__device__ inline void synchronize_block() { WarpsOfBlock<0, kFillWarps, 3>::synchronize(); }

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
  grid->wait(synchronize_block);
  if (blockIdx.x == 0) return;
  const unsigned filled = row < size ? __ldcg(&all.filled[row]) : 0;
  if (row < size) own.feature[row][column] = __ldcg(&all.feature[row][column]);
  if (thread / 32 * 2 < size) list_quads(row, column, filled, shared);
  if (thread < size) own.filled[thread] = __ldcg(&all.filled[thread]);
  if (thread == 0) own.key = __ldcg(&all.key);
  synchronize_block();
}

// What a block knows while it fills a hole.
template <typename Radius>
struct FillBlockData {
  FillShared *shared;
  RatingScratch scratch;
  BlockState state;
  CellsOfBlock cells;
  Radius radius;
};

// Fills the hole with patches until nothing is left or the host stops it, and returns their number. All threads of all
// blocks call it: kKeepsState for the StateWarps, which keep the state, and for the others, which search. kOwnState: each
// block has a state.
template <bool kKeepsState, bool kOwnState, typename Radius>
__device__ inline int put_patches(const FillTask &task, const FillBlockData<Radius> &data,
                                  GridBarrier *grid) {
  FillShared *const shared = data.shared;
  const Radius radius = data.radius;
  const bool first_block = blockIdx.x == 0, block_keeps_state = kOwnState || first_block,
             keeps_state = kKeepsState && block_keeps_state,
             asks_host = first_block && threadIdx.x == 0 && task.stop != nullptr;
  const int search_radius = task.params.search_radius, most = task.params.max_patches;
  const Size size{task.width, task.height};
  const int everywhere = task.width > task.height ? task.width : task.height;
  GridMinimum minimum(task.minima);
  UnfilledPixel own{};
  if (keeps_state) own = take_target(task, data.state, radius, shared);
  if (asks_host) end_copies();
  if (threadIdx.x == 0) shared->stops = shared->stop.x != 0;
  synchronize_block();
  Bounds last{};
  for (int patches = 0;; ++patches) {
    if (!kOwnState) share_target(task, shared, grid);
    if (shared->target.key == 0 || (most > 0 && patches == most)) return patches;
    const Place target = place_of_target(shared->target.key);
    // The host's memory is far away, but its word is needed only for the next target.
    if (asks_host) begin_copy_from_host(&shared->stop, task.stop);
    const auto search_within = [&](int reach) {
      if constexpr (!kKeepsState)
        search_cells(task, data.cells, target, radius, search_window(size, target, radius, reach), shared,
                     &minimum);
    };
    // What does not depend on the source is done beside the search, and while the blocks wait for one another.
    RatedWindow window{};
    KnownRating rating{};
    if (block_keeps_state)
      window =
          window_of_target(data.state, {target.x - data.state.area.x, target.y - data.state.area.y}, radius);
    if (keeps_state) begin_ratings(data.state, window, own, last, radius, data.scratch, *shared);
    last = window.inner;
    search_within(search_radius == 0 ? everywhere : search_radius);
    synchronize_block();
    if (keeps_state) {
      list_front<StateWarps>(data.state, window, radius, shared);
      find_longest_gradients<StateWarps>(radius, data.scratch);
    }
    if (!kKeepsState && block_keeps_state) {
      if (SummingWarps::hold_this_thread())
        sum_confidences<SummingWarps>(data.state, window, radius, data.scratch);
      else
        find_best_group(data.state, shared);
    }
    synchronize_block();
    if (keeps_state)
      rating = first_known_rating<StateWarps>(data.state, window, radius, data.scratch, *shared);
    Key best = minimum.collect(&shared->least, synchronize_block);
    if (best == kNoSource) {  // no candidate is near: the whole picture is searched
      search_within(everywhere);
      best = minimum.collect(&shared->least, synchronize_block);
    }
    if (best == kStopped) return patches;
    const Place source = place_of_source(best);
    if (threadIdx.x == 0) {
      shared->least_sum = kNoCandidate - 1;
      shared->recent[patches % kSearchWarps] = {source.x - target.x, source.y - target.y};
      if (first_block && patches < task.log.capacity)
        task.log.steps[patches] = {target.y * task.width + target.x, source.y * task.width + source.x};
      if (asks_host) end_copies();
      shared->stops = shared->stop.x != 0;
    }
    if (kKeepsState && StateWarps::own_thread() == 0) shared->quad_counts = 0;
    if (keeps_state) {
      put_patch(task, data.state, own, source, radius, first_block, window, rating, data.scratch, shared);
      own = take_target(task, data.state, radius, shared);
    }
    synchronize_block();
  }
}

// Fills the hole, whose bounds are given, with patches. Returns true if it was stopped before the end. kOwnState: the
// state fits into shared memory, which is `memory`. It is a constant so that the compiler knows where the state lies.
template <bool kOwnState, typename Radius>
__device__ inline bool fill_hole(const FillTask &task, Bounds bounds, Radius radius, unsigned char *memory,
                                 GridBarrier *grid) {
  auto *shared = reinterpret_cast<FillShared *>(memory);
  const Region area = area_around(bounds, radius, task.width, task.height);
  std::size_t used = kFillSharedBytes + scratch_bytes(radius);
  const BlockState state = state_in(kOwnState ? memory + used : task.state_memory, area);
  if (kOwnState) used += state_bytes(area.width, area.height);
  const FillBlockData<Radius> data{
      shared, scratch_in(memory + kFillSharedBytes, radius), state,
      CellsOfBlock(task, radius, memory + used, task.shared_bytes - static_cast<int>(used)), radius};
  data.cells.load(task);
  // Guesses with these shifts are the target itself, which lies in the hole and is no candidate.
  if (threadIdx.x < kSearchWarps) shared->recent[threadIdx.x] = {0, 0};
  if (threadIdx.x == 0) {
    shared->least_sum = kNoCandidate - 1;
    shared->quad_counts = 0;
    shared->stop.x = 0;
    if (blockIdx.x == 0 && task.stop != nullptr) begin_copy_from_host(&shared->stop, task.stop);
  }
  __syncthreads();
  if (kOwnState || blockIdx.x == 0) begin_state<kOwnState>(task, state, radius, data.scratch, shared, grid);
  const int patches = StateWarps::hold_this_thread() ? put_patches<true, kOwnState>(task, data, grid)
                                                     : put_patches<false, kOwnState>(task, data, grid);
  if (blockIdx.x == 0 && threadIdx.x == 0) task.frame->report.patches = patches;
  const int most = task.params.max_patches;
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
  const std::size_t needed = kFillSharedBytes + scratch_bytes(radius) + state_bytes(area.width, area.height);
  const bool stopped = needed <= static_cast<std::size_t>(task.shared_bytes)
                           ? fill_hole<true>(task, bounds, radius, memory, &grid)
                           : fill_hole<false>(task, bounds, radius, memory, &grid);
  if (stopped && blockIdx.x == 0 && threadIdx.x == 0) report.stopped = true;
  if (!stopped && task.params.max_patches > 0) diffuse(task, bounds, &grid);
}

}  // namespace cudavision::inpaint
