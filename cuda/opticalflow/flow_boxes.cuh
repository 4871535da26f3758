// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel of OpticalFlowMethod::boxes. A block iterates the pixels of a tile together, two per thread. In
// each round it computes, by box filters in shared memory (flow_box_tile.cuh), the sums of every cell that many pixels
// need next; these pixels then step until they leave the cell or finish. When no cell is needed by many pixels any
// more, the unfinished ones are appended to the work list of a second kernel (flow_leftovers.cuh). All sums are
// integers, so that the result does not depend on which kernel computes them.
#pragma once

#include <cuda_runtime.h>

#include <climits>

#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/opticalflow/flow_box_tile.cuh"
#include "cuda/opticalflow/flow_leftovers.cuh"

namespace cudavision::opticalflow {

// The number of pixels of a tile that must need a cell so that box filters are cheaper than summing their
// windows one by one.
constexpr int kMinPixelsPerCell = 32;

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

// This thread's pixels. They lie below each other.
template <int kDerivatives>
struct BoxPixels {
  using State = BoxState<kDerivatives>;
  BoxTracker track[kPerThread];
  StructureTensor own_tensor[kDerivatives == 2 ? 1 : kPerThread];

  __device__ static Place place(const DeviceWork &work, int k) {
    const int thread = thread_read_anew(), column = thread % kBoxSide,
              row = thread / kBoxSide * kPerThread + k;
    return {static_cast<int>(blockIdx.x) * kBoxSide + column, static_cast<int>(blockIdx.y) * kBoxSide + row,
            work.fine.size};
  }
  // The index of number k in the arrays of BoxState.
  __device__ static int number(int k) { return k * kBoxThreads + thread_read_anew(); }
  __device__ void keep_tensor(State &state, int k, const StructureTensor &s) {
    if constexpr (kDerivatives == 2)
      state.tensor[number(k)] = s;
    else
      own_tensor[k] = s;
  }
  __device__ StructureTensor tensor(const State &state, int k) const {
    if constexpr (kDerivatives == 2)
      return state.tensor[number(k)];
    else
      return own_tensor[k];
  }
};

// The index of a cell in BoxState::requests, or -1 if the cell is too far from that of the tile's middle.
template <int kDerivatives>
__device__ int request_of(const BoxState<kDerivatives> &state, const DisplacementCell &cell) {
  const int x = cell.x - state.middle_x + kBoxMargin, y = cell.y - state.middle_y + kBoxMargin;
  return x >= 0 && x < kBoxCells && y >= 0 && y < kBoxCells ? kBoxCells * y + x : -1;
}

// Loads the pixels of J that the windows cover when they are displaced by a corner of any cell of BoxState::requests;
// (x0, y0) is the first pixel of the windows.
template <int kDerivatives>
__device__ void load_displaced(const DeviceWork &work, int x0, int y0, const BoxTile &tile,
                               const BoxState<kDerivatives> &state) {
  load_pixels(work.to, x0 + state.middle_x - kBoxMargin, y0 + state.middle_y - kBoxMargin,
              tile.layout.pixel_rows, tile);
  __syncthreads();
}

// Counts the pixels that need each cell next.
template <int kDerivatives>
__device__ void count_requests(const BoxPixels<kDerivatives> &pixels, BoxState<kDerivatives> &state) {
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kBoxCells * kBoxCells) state.requests[thread] = 0;
  __syncthreads();
#pragma unroll
  for (const BoxTracker &t : pixels.track)
    if (const int request = t.running() ? request_of(state, cell_of(t.d)) : -1; request >= 0)
      atomicAdd(&state.requests[request], 1);
  __syncthreads();
}

// The rules with the window as a constant.
template <int kWindow>
__device__ TrackingRules rules_of(const DeviceWork &work) {
  TrackingRules rules = work.rules;
  if (kWindow > 0) rules.window = kWindow;
  return rules;
}

// Advances the pixels that need this cell of BoxState::requests. All threads must call this.
template <int kWindow, int kDerivatives>
__device__ void serve_cell(const DeviceWork &work, const BoxTile &tile, int request,
                           const BoxState<kDerivatives> &state, BoxPixels<kDerivatives> &pixels) {
  const int x = request % kBoxCells, y = request / kBoxCells;
  KeptSums kept;
  sum_windows<kWindow, kDerivatives>(tile, x, y, &kept);
  const DisplacementCell cell{x + state.middle_x - kBoxMargin, y + state.middle_y - kBoxMargin};
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    BoxTracker &mine = pixels.track[k];
    if (!mine.running() || !is_same_cell(cell_of(mine.d), cell)) continue;
    Tracker t = mine.with(pixels.tensor(state, k));
    step_in_cell(pixels.place(work, k), rules_of<kWindow>(work), window_sums<kDerivatives>(tile, k, kept),
                 state.from[pixels.number(k)], &t);
    mine = BoxTracker(t);
  }
  __syncthreads();
}

// One round for all pixels of the tile. Returns false if no cell is needed by at least `least` pixels.
template <int kWindow, int kDerivatives>
__device__ bool advance_together(const DeviceWork &work, const BoxTile &tile, int least,
                                 BoxState<kDerivatives> &state, BoxPixels<kDerivatives> &pixels) {
  count_requests(pixels, state);
  bool any = false;
#pragma unroll 1
  for (int first = 0; first < kBoxCells * kBoxCells; first += 32) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool is_popular = first + lane < kBoxCells * kBoxCells && state.requests[first + lane] >= least;
    for (unsigned popular = __ballot_sync(kFullWarp, is_popular); popular != 0; popular &= popular - 1) {
      serve_cell<kWindow, kDerivatives>(work, tile, first + __ffs(static_cast<int>(popular)) - 1, state,
                                        pixels);
      any = true;
    }
  }
  __syncthreads();
  return any;
}

// Appends the unfinished pixels to the work list (one atomic per warp), as far as they fit. Those that fit count as
// finished here.
template <int kDerivatives>
__device__ void append_leftovers(const DeviceWork &work, const LeftoverList &list,
                                 const BoxState<kDerivatives> &state, BoxPixels<kDerivatives> &pixels) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    BoxTracker &t = pixels.track[k];
    const unsigned running = __ballot_sync(kFullWarp, t.running());
    if (running == 0) continue;
    unsigned first = 0;
    if (lane == 0) first = atomicAdd(list.count, static_cast<unsigned>(__popc(running)));
    first = __shfl_sync(kFullWarp, first, 0);
    const unsigned index = first + static_cast<unsigned>(__popc(running & ((1u << lane) - 1)));
    if (!t.running() || index >= list.capacity) continue;
    const Place place = pixels.place(work, k);
    const int number = pixels.number(k);
    list.pixels[index] = {
        .track = t.with(pixels.tensor(state, k)), .x = place.x, .y = place.y, .from = state.from[number]};
    t.stop();
  }
}

// Moves the reach of the box filters to the cell of an unfinished pixel. Returns false if there is none.
template <int kDerivatives>
__device__ bool follow_unfinished(const DeviceWork &work, int x0, int y0, const BoxTile &tile,
                                  BoxState<kDerivatives> &state, const BoxPixels<kDerivatives> &pixels) {
  if (threadIdx.x == 0) state.followed = INT_MAX;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kPerThread; ++k)
    if (pixels.track[k].running()) atomicMin(&state.followed, pixels.number(k));
  __syncthreads();
  if (state.followed == INT_MAX) return false;
#pragma unroll
  for (int k = 0; k < kPerThread; ++k)
    if (pixels.number(k) == state.followed) {
      const DisplacementCell cell = cell_of(pixels.track[k].d);
      state.middle_x = cell.x, state.middle_y = cell.y;
    }
  __syncthreads();
  load_displaced(work, x0, y0, tile, state);
  return true;
}

// Computes the sums that are the same for all cells: the structure tensors, and the sums of (Ix, Iy) I. BoxTile::pixels
// must hold I.
template <int kWindow, int kDerivatives>
__device__ void sum_together(const BoxTile &tile, BoxState<kDerivatives> &state,
                             BoxPixels<kDerivatives> &pixels) {
  sum_tensors<kWindow>(tile, [&](int k, const StructureTensor &s) { pixels.keep_tensor(state, k, s); });
  KeptSums kept;
  sum_windows<kWindow, kDerivatives>(tile, 0, 0, &kept);
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const CellSums e = window_sums<kDerivatives>(tile, k, kept);
    state.from[pixels.number(k)] = {e.x[0], e.y[0]};
  }
}

// Starts the iterations, and centres the reach of the box filters on the cell of the tile's middle.
template <int kDerivatives>
__device__ void start_together(const DeviceWork &work, BoxState<kDerivatives> &state,
                               BoxPixels<kDerivatives> &pixels) {
  Field coarse = work.coarse;
  coarse.stride = 1;  // as a constant
  const Size size = work.fine.size;
  const int middle_x = min(static_cast<int>(blockIdx.x) * kBoxSide + kBoxSide / 2, size.width - 1),
            middle_y = min(static_cast<int>(blockIdx.y) * kBoxSide + kBoxSide / 2, size.height - 1);
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const Place place = pixels.place(work, k);
    if (!is_in_picture(place)) continue;
    const FlowVector start = start_of(coarse, place.x, place.y);
    pixels.track[k] = BoxTracker(start_tracking(place, work.rules, pixels.tensor(state, k), start));
    if (place.x != middle_x || place.y != middle_y) continue;
    const DisplacementCell cell =
        reaches_picture(place, start, work.rules.window) ? cell_of(start) : DisplacementCell{};
    state.middle_x = cell.x, state.middle_y = cell.y;
  }
  __syncthreads();
}

// kWindow: the window's size, or 0 for any. kDerivatives: 2, or 1 on devices with little shared memory.
template <int kWindow, int kDerivatives>
static __global__ void __launch_bounds__(kBoxThreads, kDerivatives)
    track_tiles_kernel(const __grid_constant__ DeviceWork work, LeftoverList list) {
  CUDAVISION_DYNAMIC_SHARED(int, shared);
  __shared__ BoxState<kDerivatives> state;
  const int window = kWindow > 0 ? kWindow : work.rules.window, radius = window / 2;
  const BoxLayout layout = box_layout(window, kDerivatives);
  const BoxTile tile = share_box_tile(shared, layout, window);
  const int x0 = static_cast<int>(blockIdx.x) * kBoxSide - radius,
            y0 = static_cast<int>(blockIdx.y) * kBoxSide - radius;  // of the windows
  // All kernels of the flow wait for the kernel ahead before they let the next one start (see opticalflow.cu).
  // So all kernels before the one ahead have finished here, and the pyramids are complete unless the one ahead
  // builds them.
  const bool is_coarsest = work.coarse.vectors.data == nullptr;
  if (is_coarsest) wait_for_kernel_ahead();
  load_gradients(work, x0, y0, tile);
  load_pixels(work.from, x0, y0, layout.rows + 1, tile);
  __syncthreads();
  BoxPixels<kDerivatives> pixels;
  sum_together<kWindow, kDerivatives>(tile, state, pixels);
  wait_for_kernel_ahead();
  let_next_kernel_start();

  start_together(work, state, pixels);
  load_displaced(work, x0, y0, tile, state);
  for (int least = kMinPixelsPerCell;;) {
    if (advance_together<kWindow, kDerivatives>(work, tile, least, state, pixels)) continue;
    if (least > 1) append_leftovers(work, list, state, pixels);
    least = 1;
    if (!follow_unfinished(work, x0, y0, tile, state, pixels)) break;
  }
  // The kernel of the leftovers overwrites their vectors.
#pragma unroll
  for (int k = 0; k < kPerThread; ++k)
    if (const Place place = pixels.place(work, k); is_in_picture(place))
      store(work, place.x, place.y, pixels.track[k].with({}));
}

}  // namespace cudavision::opticalflow
