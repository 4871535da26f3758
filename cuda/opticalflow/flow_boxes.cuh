// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel for large levels that have a vector at every pixel. A block iterates the pixels of a tile together, one
// per thread. In each round it computes, by box filters in shared memory (flow_box_tile.cuh), the sums of every cell
// that many pixels need next; these pixels then step until they leave the cell or finish. When no cell is needed by
// many pixels any more, the unfinished ones are appended to the work list of a second kernel (flow_leftovers.cuh). All
// sums are integers, so that the result does not depend on which kernel computes them.
#pragma once

#include <cuda_runtime.h>

#include <climits>

#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/static_shared.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/opticalflow/flow_box_tile.cuh"
#include "cuda/opticalflow/flow_by_warp.cuh"
#include "cuda/opticalflow/flow_leftovers.cuh"

namespace cudavision::opticalflow {

// The number of pixels of a tile that must need a cell so that box filters are cheaper than summing their windows one
// by one. A folded window costs a warp less than half as many steps as a larger one (flow_by_warp.cuh).
CUDAVISION_HOST_DEVICE constexpr int min_pixels_per_cell(int window) { return is_folded(window) ? 20 : 12; }

__device__ inline bool is_in_picture(const Place &place) {
  return place.x < place.size.width && place.y < place.size.height;
}

// A Tracker without its structure tensor, in five registers.
class BoxTracker {
 public:
  FlowVector d, last_step;

  BoxTracker() = default;
  __device__ explicit BoxTracker(const Tracker &t)
      : d(t.d),
        last_step(t.last_step),
        status_(t.steps | (t.running ? kRunning : 0) | (t.valid ? kValid : 0)) {}
  __device__ Tracker with(const StructureTensor &s) const {
    return {s, d, last_step, status_ & (kRunning - 1), running(), (status_ & kValid) != 0};
  }
  __device__ bool running() const { return (status_ & kRunning) != 0; }
  __device__ void stop() { status_ &= ~kRunning; }

 private:
  static constexpr int kRunning = 1 << 8, kValid = 1 << 9;
  static_assert(OpticalFlowRanges::iterations.most < kRunning);
  int status_ = 0;
};

// This thread's pixel. thread_read_anew() is its number in the arrays of BoxState.
__device__ inline Place own_place(const DeviceWork &work) {
  const int thread = thread_read_anew();
  return {static_cast<int>(blockIdx.x) * kBoxSide + thread % kBoxSide,
          static_cast<int>(blockIdx.y) * kBoxSide + thread / kBoxSide, work.fine.size};
}

// The index of a cell in BoxState::requests, or -1 if the cell is too far from the middle cell.
__device__ inline int request_of(const BoxState &state, const DisplacementCell &cell) {
  const int x = cell.x - state.middle_x + kBoxMargin, y = cell.y - state.middle_y + kBoxMargin;
  return x >= 0 && x < kBoxCells && y >= 0 && y < kBoxCells ? kBoxCells * y + x : -1;
}

// Loads the pixels of J that the windows cover when they are displaced by a corner of any cell of BoxState::requests;
// (x0, y0) is the first pixel of the windows.
__device__ inline void load_displaced(const DeviceWork &work, int x0, int y0, const BoxTile &tile,
                                      const BoxState &state) {
  load_pixels(work.to, x0 + state.middle_x - kBoxMargin, y0 + state.middle_y - kBoxMargin,
              tile.layout.pixel_rows, tile);
  __syncthreads();
}

// Counts the pixels that need each cell next. `track`: of this thread's pixel.
__device__ inline void count_requests(const BoxTracker &track, BoxState &state) {
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kBoxCells * kBoxCells) state.requests[thread] = 0;
  __syncthreads();
  if (const int request = track.running() ? request_of(state, cell_of(track.d)) : -1; request >= 0)
    atomicAdd(&state.requests[request], 1);
  __syncthreads();
}

// Makes the steps of a pixel inside the cell; e: the sums of (Ix, Iy) J for the cell, and from: those of (Ix, Iy) I.
__device__ inline void step_in_cell(const Place &place, const TrackingRules &rules, CellSums e,
                                    const FromSums &from, Tracker *t) {
#pragma unroll
  for (int i = 0; i < 4; ++i) e.x[i] -= from.x, e.y[i] -= from.y;
  const FlowVector first = corner_of(t->d);
  FlowVector corner;
  do {
    corner = step(place, rules, interpolate(e, t->d, first), t);
  } while (t->running && corner.x == first.x && corner.y == first.y);
}

// Makes the steps of all pixels that need a cell. request: its index in BoxState::requests. All threads must call this.
template <int kWindow>
__device__ void serve_cell(const DeviceWork &work, const BoxTile &tile, int request, const BoxState &state,
                           BoxTracker *track) {
  const int x = request % kBoxCells, y = request / kBoxCells;
  sum_windows<kWindow>(tile, x, y);
  const DisplacementCell cell{x + state.middle_x - kBoxMargin, y + state.middle_y - kBoxMargin};
  if (track->running() && is_same_cell(cell_of(track->d), cell)) {
    const int number = thread_read_anew();
    Tracker t = track->with(state.tensor[number]);
    step_in_cell(own_place(work), rules_of<kWindow>(work), window_sums(tile), state.from[number], &t);
    *track = BoxTracker(t);
  }
  __syncthreads();
}

// One round for all pixels of the tile. Returns false if no cell is needed by at least `least` pixels.
template <int kWindow>
__device__ bool advance_together(const DeviceWork &work, const BoxTile &tile, int least, BoxState &state,
                                 BoxTracker *track) {
  count_requests(*track, state);
  bool any = false;
#pragma unroll 1
  for (int first = 0; first < kBoxCells * kBoxCells; first += 32) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool is_popular = first + lane < kBoxCells * kBoxCells && state.requests[first + lane] >= least;
    for (unsigned popular = __ballot_sync(kFullWarp, is_popular); popular != 0; popular &= popular - 1) {
      serve_cell<kWindow>(work, tile, first + __ffs(static_cast<int>(popular)) - 1, state, track);
      any = true;
    }
  }
  __syncthreads();
  return any;
}

// Appends the unfinished pixels to the work list (one atomic per warp), as far as the list has room for them. Those
// that are appended count as finished here.
__device__ inline void append_leftovers(const DeviceWork &work, const LeftoverList &list,
                                        const BoxState &state, BoxTracker *track) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned running = __ballot_sync(kFullWarp, track->running());
  if (running == 0) return;
  unsigned first = 0;
  if (lane == 0) first = atomicAdd(list.count, static_cast<unsigned>(__popc(running)));
  first = __shfl_sync(kFullWarp, first, 0);
  const unsigned index = first + static_cast<unsigned>(__popc(running & ((1u << lane) - 1)));
  if (!track->running() || index >= list.capacity) return;
  const Place place = own_place(work);
  const int number = thread_read_anew();
  list.pixels[index] = {
      .track = track->with(state.tensor[number]), .x = place.x, .y = place.y, .from = state.from[number]};
  track->stop();
}

// Centres BoxState::requests on the cell of an unfinished pixel, and loads the pixels of J for the new cells. Returns
// false if all pixels are finished.
__device__ inline bool follow_unfinished(const DeviceWork &work, int x0, int y0, const BoxTile &tile,
                                         BoxState &state, const BoxTracker &track) {
  if (threadIdx.x == 0) state.followed = INT_MAX;
  __syncthreads();
  if (track.running()) atomicMin(&state.followed, thread_read_anew());
  __syncthreads();
  if (state.followed == INT_MAX) return false;
  if (thread_read_anew() == state.followed) {
    const DisplacementCell cell = cell_of(track.d);
    state.middle_x = cell.x, state.middle_y = cell.y;
  }
  __syncthreads();
  load_displaced(work, x0, y0, tile, state);
  return true;
}

// Computes the sums that are the same for all cells: the structure tensors, and the sums of (Ix, Iy) I. BoxTile::pixels
// must hold I.
template <int kWindow>
__device__ void sum_together(const BoxTile &tile, BoxState &state) {
  state.tensor[thread_read_anew()] = sum_tensors<kWindow>(tile);
  sum_windows<kWindow>(tile, 0, 0);
  const CellSums e = window_sums(tile);
  state.from[thread_read_anew()] = {e.x[0], e.y[0]};
}

// Starts the iterations, and centres BoxState::requests on the cell of the tile's middle pixel. Returns the tracker of
// this thread's pixel.
__device__ inline BoxTracker start_together(const DeviceWork &work, BoxState &state) {
  Field coarse = work.coarse;
  coarse.stride = 1;  // it always is; as a constant, it needs no divisions
  const Size size = work.fine.size;
  const int middle_x = min(static_cast<int>(blockIdx.x) * kBoxSide + kBoxSide / 2, size.width - 1),
            middle_y = min(static_cast<int>(blockIdx.y) * kBoxSide + kBoxSide / 2, size.height - 1);
  BoxTracker track;
  if (const Place place = own_place(work); is_in_picture(place)) {
    const FlowVector start = start_of(coarse, place.x, place.y);
    track = BoxTracker(start_tracking(place, work.rules, state.tensor[thread_read_anew()], start));
    if (place.x == middle_x && place.y == middle_y) {
      const DisplacementCell cell =
          reaches_picture(place, start, work.rules.window) ? cell_of(start) : DisplacementCell{};
      state.middle_x = cell.x, state.middle_y = cell.y;
    }
  }
  __syncthreads();
  return track;
}

// Computes the vectors of a level with stride 1. kWindow: the window's size, or 0 to use work.rules.window.
template <int kWindow>
static __global__ void __launch_bounds__(kBoxThreads, 4)
    track_tiles_kernel(const __grid_constant__ DeviceWork work, LeftoverList list) {
  CUDAVISION_DYNAMIC_SHARED(int, shared);
  CUDAVISION_SHARED(BoxState, state);
  static_assert(box_layout(2 * kMaxRadius + 1).bytes() + sizeof(BoxState) <= 48 * 1024,
                "a block may have it on every device");
  const Region own{static_cast<int>(blockIdx.x) * kBoxSide, static_cast<int>(blockIdx.y) * kBoxSide, kBoxSide,
                   kBoxSide};
  if (!work.places.meet(own)) {
    wait_for_kernel_ahead();  // the end of a block lets the next kernel start
    return;
  }
  const int window = kWindow > 0 ? kWindow : work.rules.window, radius = window / 2;
  const BoxLayout layout = box_layout(window);
  const BoxTile tile = share_box_tile(shared, layout, window);
  const int x0 = static_cast<int>(blockIdx.x) * kBoxSide - radius,
            y0 = static_cast<int>(blockIdx.y) * kBoxSide - radius;  // the first pixel of the windows
  // On the coarsest level, the kernel ahead may still build the pyramids. On the others, they are complete: all kernels
  // that may still run there track pixels (see opticalflow.cu).
  const bool is_coarsest = work.coarse.vectors.data == nullptr;
  if (is_coarsest) wait_for_kernel_ahead();
  load_gradients(work, x0, y0, tile);
  load_pixels(work.from, x0, y0, layout.rows + 1, tile);
  __syncthreads();
  sum_together<kWindow>(tile, state);
  wait_for_kernel_ahead();
  let_next_kernel_start();

  BoxTracker track = start_together(work, state);
  load_displaced(work, x0, y0, tile, state);
  for (int least = min_pixels_per_cell(window);;) {
    if (advance_together<kWindow>(work, tile, least, state, &track)) continue;
    if (least > 1) append_leftovers(work, list, state, &track);
    least = 1;
    if (!follow_unfinished(work, x0, y0, tile, state, track)) break;
  }
  // For unfinished pixels, finish_leftovers_kernel will overwrite these vectors.
  if (const Place place = own_place(work); is_in_picture(place))
    store(work, place.x, place.y, track.with({}));
}

}  // namespace cudavision::opticalflow
