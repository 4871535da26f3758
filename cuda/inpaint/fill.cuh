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

// Copies the target of the first block to the other blocks, by way of FrameState::target. Its two elements are used in
// turn: while a block still reads one, the first block may already write the other, but not a target after that,
// because all blocks pass the grid barrier in between.
template <typename Radius>
__device__ inline void share_target(const FillTask &task, const CellsOfBlock &cells, Radius radius,
                                    FillShared *shared) {
  constexpr int kFeatures = kMaxPatchSize * kTargetColumns;
  static_assert(kFeatures <= kFillThreads);
  TargetPatch &all = task.frame->target[shared->patches % 2], &own = shared->target;
  const int thread = FillBlock::own_thread(), size = 2 * radius + 1;
  const int row = thread / kTargetColumns, column = thread % kTargetColumns;
  if (blockIdx.x == 0) {
    if (row < size) all.feature[row][column] = own.feature[row][column];
    if (thread < size) all.filled[thread] = own.filled[thread];
    if (thread == 0) all.key = own.key;
  }
  GridBarrier(&task.frame->blocks_that_arrived).wait();
  if (blockIdx.x == 0) return;
  if (row < size) own.feature[row][column] = __ldcg(&all.feature[row][column]);
  if (thread < 32) {
    const unsigned filled = thread < size ? __ldcg(&all.filled[thread]) : 0;
    if (thread < size) own.filled[thread] = filled;
    list_quads(filled, shared);
    const Key key = __ldcg(&all.key);
    if (thread == 0) own.key = key;
    if (thread == 0) find_rated_window(place_of_target(key), radius, shared);
    find_searched_window(task, cells, place_of_target(key), radius, shared);
  }
  __syncthreads();
}

// The memory, the cells and the radius that the functions below need in each block.
template <typename Radius>
struct FillBlockData {
  FillShared *shared;
  RatingScratch scratch;
  void *state_memory;
  CellsOfBlock cells;
  Radius radius;

  __device__ BlockState state() const { return state_in(state_memory, shared->layout); }
};

// Chooses the next target from FillShared::best, which must be complete, and writes its patch, quads and windows to
// *shared. All StateWarps must call this.
template <typename Radius>
__device__ inline void take_target(const FillTask &task, const BlockState &s, const CellsOfBlock &cells,
                                   Radius radius, FillShared *shared) {
  const int thread = StateWarps::own_thread(), warp = thread / 32, lane = thread % 32;
  // Every warp computes the maximum itself: that is quicker than waiting until one warp has done so.
  const Key best = warp_max(shared->best[lane < kFillWarps ? lane : 0]);
  take_patch(s, best, radius, shared);
  // Unless the patch is large, the last warps have no rows of it to copy.
  const Place target = place_of_target(best);
  if (warp == StateWarps::kWarps - 3 && lane == 0) find_rated_window(target, radius, shared);
  if (warp == StateWarps::kWarps - 2) list_filled(s, target, radius, shared);
  if (warp == StateWarps::kWarps - 1) find_searched_window(task, cells, target, radius, shared);
}

// Fills the hole with patches until it is full, params.max_patches is reached or the host stops the fill, and counts
// them. All threads of all blocks must call this. kOwnState: all blocks have a state; otherwise only the first one.
template <bool kOwnState, typename Radius>
__device__ inline void put_patches(const FillTask &task, const FillBlockData<Radius> &data) {
  FillShared *const shared = data.shared;
  const auto is_first_block = [] { return hidden(static_cast<int>(blockIdx.x)) == 0; };
  const auto block_keeps_state = [&] { return kOwnState || is_first_block(); };
  const auto radius = [&] { return again(data.radius); };
  const auto is_first_thread = [] { return FillBlock::own_thread() == 0; };
  const auto keeps_state = [&] { return block_keeps_state() && StateWarps::hold_this_thread(); };
  const auto asks_host = [&] { return is_first_block() && is_first_thread() && task.stop != nullptr; };
  const int most = task.params.max_patches;
  const RatedWindow &rated = shared->windows.rated;
  GridMinimum minimum(task.minima);
  if (keeps_state()) take_target(task, data.state(), data.cells, radius(), shared);
  end_copies();
  if (is_first_thread()) shared->stops = shared->stop.x != 0;
  __syncthreads();
  for (;;) {
    if (!kOwnState) share_target(task, data.cells, radius(), shared);
    if (shared->target.key == 0 || (most > 0 && shared->patches == most)) return;
    // The first thread needs this place when the StateWarps may already have written the next target.
    if (is_first_thread()) shared->place = place_of_target(shared->target.key);
    // A load from the host's memory takes long, so it begins here. Its result is needed only for the next target.
    if (asks_host()) begin_copy_from_host(&shared->stop, task.stop);
    // Work that does not depend on the source is done during the search, and while the blocks wait for one another.
    Key best = kNoSource;
    // If no candidate is found near the target, a second search covers the whole picture.
    for (;;) {
      const bool in_low_tiles = shared->windows.in_low_tiles,
                 updates = shared->windows.is_first && block_keeps_state();
      run_phases<SearchWarps>(Phase{[&] {
                                      if (updates) mark_patch(data.state(), radius(), *shared);
                                    },
                                    [&] {
                                      if (in_low_tiles) search_in_low_tiles(task, data.cells, shared);
                                    }},
                              Phase{[&] {
                                      if (!updates) return;
                                      add_filled(data.state(),
                                                 around_target(data.state(), *shared, radius()));
                                      list_front<StateWarps>(data.state(), rated, radius(), shared);
                                    },
                                    [&] {
                                      if (in_low_tiles) publish_found<SearchWarps>(*shared, &minimum);
                                    }});
      if (!in_low_tiles) {
        search_in_high_tiles(task, data.cells, place_of_target(shared->target.key), radius(), shared);
        __syncthreads();
        publish_found<FillBlock>(*shared, &minimum);
        if (StateWarps::own_thread() == 0) shared->least_sum = kNoCandidate - 1, shared->tiles_taken = 0;
      }
      if (updates) {
        const BlockState state = data.state();
        const Bounds changing = rated.inner;
        // Leaves out the gradients that depend on the source; end_gradients() computes them.
        const auto begin_gradients = [&] {
          compute_gradients<StateWarps>(state, rated, around_target(state, *shared, radius() + 1), radius(),
                                        data.scratch);
        };
        run_phases<ComparingWarps>(
            Phase{begin_gradients, [&] { rate_groups(state, shared->last, changing, radius()); }},
            Phase{[&] {
                    find_confidences<StateWarps>(state, rated, radius(), data.scratch, *shared);
                    find_normals<StateWarps>(state, rated, data.scratch, *shared);
                  },
                  [&] {
                    if (ComparingWarps::own_thread() == 0) shared->last = changing;
                    find_best_group(state, shared);
                  }});
      }
      best = minimum.collect(&shared->least);
      if (best != kNoSource || !shared->windows.is_first) break;
      __syncthreads();
      if (is_first_thread()) search_everywhere(task, data.cells, shared->place, radius(), shared);
      __syncthreads();
    }
    if (best == kStopped) return;
    const Place source = place_of_source(best);
    if (is_first_thread()) {
      const int patches = shared->patches++;
      const Place filled = shared->place;
      shared->recent[patches % kFillWarps] = {source.x - filled.x, source.y - filled.y};
      if (is_first_block() && patches < task.log.capacity)
        task.log.steps[patches] = {filled.y * task.width + filled.x, source.y * task.width + source.x};
      if (asks_host()) end_copies();
      shared->stops = shared->stop.x != 0;
    }
    if (block_keeps_state()) {
      const BlockState state = data.state();
      const auto nothing = [] {};
      run_phases<SearchWarps>(
          Phase{[&] { copy_patch(task, state, source, radius(), is_first_block(), *shared); }, nothing},
          Phase{[&] { end_gradients(state, radius(), data.scratch, *shared); }, nothing},
          Phase{[&] {
                  const Key best_here =
                      rate_listed<StateWarps>(state, rated, radius(), data.scratch, *shared);
                  note_best_of_warp(best_here, shared);
                },
                nothing},
          Phase{[&] { take_target(task, state, data.cells, radius(), shared); }, nothing});
    }
    __syncthreads();
  }
}

// Fills the hole, whose bounds are given, with patches. Returns true if the host stopped the fill. memory: the block's
// shared memory. kOwnState: the state fits into it; a constant, so that the compiler knows the state's address space.
template <bool kOwnState, typename Radius>
__device__ inline bool fill_hole(const FillTask &task, Bounds bounds, Radius radius, unsigned char *memory,
                                 GridBarrier *grid) {
  auto *shared = reinterpret_cast<FillShared *>(memory);
  const Region area = area_around(bounds, radius, task.width, task.height);
  std::size_t used = kFillSharedBytes + scratch_bytes(radius);
  void *const state_memory = kOwnState ? memory + used : task.state_memory;
  if (kOwnState) used += StateLayout(area).bytes();
  const CellsOfBlock cells(task, bounds, radius, memory, static_cast<int>(used));
  const FillBlockData<Radius> data{shared, scratch_in(memory + kFillSharedBytes, radius), state_memory, cells,
                                   radius};
  // With a shift of {0, 0}, a guess is the target itself, which lies in the hole and is no candidate.
  if (threadIdx.x < kFillWarps) shared->recent[threadIdx.x] = {0, 0};
  if (StateWarps::hold_this_thread()) shared->unfilled[StateWarps::own_thread()] = -1;
  if (threadIdx.x == 0) {
    shared->layout = StateLayout(area);
    shared->least_sum = kNoCandidate - 1;
    shared->tiles_taken = shared->patches = 0;
    shared->last = {};
    shared->stop.x = 0;
    if (blockIdx.x == 0 && task.stop != nullptr) begin_copy_from_host(&shared->stop, task.stop);
  }
  __syncthreads();
  data.cells.begin_load(task);
  if (kOwnState || blockIdx.x == 0)
    begin_state<kOwnState>(task, data.state(), radius, data.scratch, shared, grid);
  put_patches<kOwnState>(task, data);
  const int patches = shared->patches, most = task.params.max_patches;
  if (blockIdx.x == 0 && threadIdx.x == 0) task.frame->report.patches = patches;
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
  const std::size_t needed = kFillSharedBytes + scratch_bytes(radius) + StateLayout(area).bytes();
  const bool stopped = needed <= static_cast<std::size_t>(task.shared_bytes)
                           ? fill_hole<true>(task, bounds, radius, memory, &grid)
                           : fill_hole<false>(task, bounds, radius, memory, &grid);
  if (stopped && blockIdx.x == 0 && threadIdx.x == 0) report.stopped = true;
  if (!stopped && task.params.max_patches > 0) diffuse(task, task.frame->hole, &grid);
}

}  // namespace cudavision::inpaint
