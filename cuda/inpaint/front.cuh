// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of the fill that a block keeps: confidence, gradients and priorities in the area around the hole,
// updated after each patch.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/warp.cuh"
#include "cuda/inpaint/fill_task.cuh"

namespace cudavision::inpaint {

constexpr int kFillThreads = 512, kFillWarps = kFillThreads / 32;

// The largest window of pixels that functions of a block work on: a row for each warp, a column for each lane. The
// priorities that change with one patch lie in such a window.
constexpr int kWindowSide = 32;
static_assert(4 * (kMaxPatchSize / 2) + 3 <= kWindowSide);

// The other shared memory of a block of the fill kernel.
struct FillShared {
  TargetPatch target;
  // The quads of the target's patch. The first `whole_quads` elements are those with four filled pixels; they are
  // compared first, because they tell most. The last `part_quads` elements are the others. Both are in no order.
  int whole_quads, part_quads;
  PatchQuad quads[kMaxQuads];
  // The best source_key() that the block has found.
  Key best;
  // A copy of *FillTask::stop in the first block, otherwise 0.
  uint4 stop;
  // Scratch memory of reductions.
  Key per_warp[kFillWarps];
  // The shifts of the last kFillWarps patches, in no order.
  Shift recent[kFillWarps];
  // The pixels of the front in a window whose priorities have to be computed: row * kWindowSide + column.
  int front_count;
  std::uint16_t front[kWindowSide * kWindowSide];
};

// The size of the state of an area, a multiple of 16: four words per pixel and one key per row.
CUDAVISION_HOST_DEVICE constexpr std::size_t state_bytes(Region area) {
  const std::size_t row_keys = static_cast<std::size_t>(area.height + 1) / 2 * 2 * sizeof(std::uint64_t);
  return static_cast<std::size_t>(area.width) * static_cast<std::size_t>(area.height) * 16 + row_keys;
}
constexpr std::size_t kFillSharedBytes = (sizeof(FillShared) + 15) / 16 * 16;

// Lays out the state in state_bytes(area) bytes of memory.
__device__ inline FillState state_in(unsigned char *memory, Region area) {
  const int pixels = area.width * area.height;
  FillState s;
  s.area = area;
  s.row_best = reinterpret_cast<std::uint64_t *>(memory);
  s.words = reinterpret_cast<std::uint32_t *>(s.row_best + area.height);
  s.confidence = reinterpret_cast<std::int32_t *>(s.words + pixels);
  s.gradient = reinterpret_cast<std::uint32_t *>(s.confidence + pixels);
  s.priority = s.gradient + pixels;
  return s;
}

// --- functions that groups of lanes call, all groups of a warp at the same time ---

constexpr int kRatingLanes = kTargetColumns, kRowLanes = 16;

// The confidence term of a patch, and its longest gradient.
struct Rating {
  int confidence;
  std::uint32_t gradient;
};

// The rating of the patch around a pixel, in all kRatingLanes lanes of a group. Each lane has a column.
__device__ inline Rating rate_patch(const FillState &s, int x, int y, int radius, int lane) {
  const Bounds window = window_around(s.area, x, y, radius);
  const int own = x + lane - kTargetLeft;
  const bool inside = own >= window.x0 && own < window.x1;
  int sum = 0, longest = 0;
#pragma unroll 3
  for (int row = window.y0; row < window.y1; ++row) {
    const int at = s.index(inside ? own : x, row);
    // The largest key belongs to the longest gradient and, of equal ones, to the first: squared lengths are
    // below 2^20 and indices below 2^8.
    const int key = squared_length(s.gradient[at]) << 8 | (255 - ((row - window.y0) * kRatingLanes + lane));
    sum += inside ? s.confidence[at] : 0;
    longest = inside && key > longest ? key : longest;
  }
  longest = warp_max(longest, kRatingLanes);
  const int first = 255 - (longest & 255);
  const int at = s.index(x + first % kRatingLanes - kTargetLeft, window.y0 + first / kRatingLanes);
  return {confidence_of(warp_sum(sum, kRatingLanes), (window.x1 - window.x0) * (window.y1 - window.y0)),
          longest >> 8 == 0 ? 0 : s.gradient[at]};
}

// The best target_key() of a row of the area, in all kRowLanes lanes of a group.
__device__ inline Key best_of_row(const FillState &s, int y, int lane) {
  std::uint32_t most = 0;
  int at = 0;
#pragma unroll 4
  for (int x = lane; x < s.area.width; x += kRowLanes) {
    const std::uint32_t priority = s.priority[s.index(x, y)];
    at = priority > most ? x : at;
    most = priority > most ? priority : most;
  }
  return warp_max(most != 0 ? target_key(most, {s.area.x + at, s.area.y + y}) : Key{0}, kRowLanes);
}

// --- functions that a whole block calls ---

// Calls visit(x, y, inside) for each pixel of a window, in each warp with all of its lanes; `inside` is false for lanes
// without a pixel.
template <typename Visit>
__device__ inline void for_each_of_window(Bounds window, const Visit &visit) {
  const int x = window.x0 + static_cast<int>(threadIdx.x) % 32;
  for (int y = window.y0 + static_cast<int>(threadIdx.x) / 32; y < window.y1; y += kFillWarps)
    visit(x, y, x < window.x1);
}

__device__ inline void update_gradients(const FillState &s, Bounds window) {
  for_each_of_window(window, [&s](int x, int y, bool inside) {
    if (inside) s.gradient[s.index(x, y)] = gradient_at(s, x, y);
  });
}

// Lists the pixels of the front in a window in shared->front, which must be empty, and clears the priorities of the
// others.
__device__ inline void list_front(const FillState &s, Bounds window, FillShared *shared) {
  for_each_of_window(window, [&](int x, int y, bool inside) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool front = inside && on_front(s, x, y);
    if (inside && !front) s.priority[s.index(x, y)] = 0;
    const unsigned lanes = __ballot_sync(kFullWarp, front);
    if (lanes == 0) return;
    int at = 0;
    if (lane == 0) at = atomicAdd(&shared->front_count, __popc(lanes));
    at = __shfl_sync(kFullWarp, at, 0) + __popc(lanes & ((1u << lane) - 1));
    if (front) shared->front[at] = static_cast<std::uint16_t>((y - window.y0) * kWindowSide + lane);
  });
}

// Computes the priorities of the pixels that list_front() has listed.
__device__ inline void rate_listed(const FillState &s, Bounds window, int radius, const FillShared &shared) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kRatingLanes, count = shared.front_count;
  constexpr int kPerWarp = 32 / kRatingLanes;
  for (int first = thread / 32 * kPerWarp; first < count; first += kFillWarps * kPerWarp) {
    const int own = first + thread % 32 / kRatingLanes;
    // Groups without a pixel repeat the last one.
    const int entry = shared.front[own < count ? own : count - 1];
    const int x = window.x0 + entry % kWindowSide, y = window.y0 + entry / kWindowSide;
    const Rating rating = rate_patch(s, x, y, radius, lane);
    const Normal normal = normal_at(s, x, y);
    if (lane == 0 && own < count)
      s.priority[s.index(x, y)] =
          __float_as_uint(priority_of(rating.confidence, rating.gradient, normal.x, normal.y));
  }
}

// Computes the best targets of the rows [first, last).
__device__ inline void rate_rows(const FillState &s, int first, int last) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kRowLanes;
  constexpr int kPerWarp = 32 / kRowLanes;
  for (int y = first + thread / 32 * kPerWarp; y < last; y += kFillWarps * kPerWarp) {
    const int own = y + thread % 32 / kRowLanes;
    const Key best = best_of_row(s, own < last ? own : last - 1, lane);
    if (lane == 0 && own < last) s.row_best[own] = best;
  }
}

// Initialises the state from the frame. Synchronises the block after its last write.
__device__ inline void begin_state(const FillTask &task, const FillState &s, FillShared *shared) {
  const int count = s.area.width * s.area.height;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kFillThreads) {
    const int x = s.area.x + i % s.area.width, y = s.area.y + i / s.area.width;
    const int pixel = y * task.width + x;
    s.words[i] = with_luma(task.features[y * task.pitch + x], task.pixels[pixel]);
    s.confidence[i] = task.hole[pixel] != 0 ? 0 : kFullConfidence;
  }
  __syncthreads();
  const auto for_each_window = [&s](const auto &visit) {
    for (int y = 0; y < s.area.height; y += kWindowSide)
      for (int x = 0; x < s.area.width; x += kWindowSide)
        visit(Bounds{x, y, x + kWindowSide < s.area.width ? x + kWindowSide : s.area.width,
                     y + kWindowSide < s.area.height ? y + kWindowSide : s.area.height});
  };
  for_each_window([&s](Bounds window) { update_gradients(s, window); });
  for_each_window([&](Bounds window) {
    if (threadIdx.x == 0) shared->front_count = 0;
    __syncthreads();
    list_front(s, window, shared);
    __syncthreads();
    rate_listed(s, window, task.params.patch_size / 2, *shared);
    __syncthreads();
  });
  rate_rows(s, 0, s.area.height);
  __syncthreads();
}

// The pixel of a target's patch that belongs to this thread, relative to the area. `row` and `column` are those of
// TargetPatch; `inside` is false for threads that have none.
struct PatchPixel {
  int row, column, x, y;
  bool inside;
};
__device__ inline PatchPixel patch_pixel(const FillState &s, Place target, int radius) {
  const int row = static_cast<int>(threadIdx.x) / kTargetColumns,
            column = static_cast<int>(threadIdx.x) % kTargetColumns;
  const int dx = column - kTargetLeft, dy = row - radius;
  const int x = target.x - s.area.x + dx, y = target.y - s.area.y + dy;
  return {row, column, x, y, dx >= -radius && dx <= radius && dy <= radius && s.holds(x, y)};
}

// Adds the quads of two rows of the target's patch to the lists. A whole warp calls it: each lane with its row and column
// of TargetPatch, and with that row's element of TargetPatch::filled, or 0 if the patch has no such row.
__device__ inline void list_quads(int row, int column, unsigned filled, FillShared *shared) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned which = column % 4 == 0 ? filled >> column & 15 : 0, before = (1u << lane) - 1;
  const unsigned whole = __ballot_sync(kFullWarp, which == 15),
                 part = __ballot_sync(kFullWarp, which != 0 && which != 15);
  int at = 0;
  if (lane == 0) at = atomicAdd(&shared->whole_quads, __popc(whole));
  if (lane == 1) at = atomicAdd(&shared->part_quads, __popc(part));
  const int first_whole = __shfl_sync(kFullWarp, at, 0), first_part = __shfl_sync(kFullWarp, at, 1);
  at =
      which == 15 ? first_whole + __popc(whole & before) : kMaxQuads - 1 - first_part - __popc(part & before);
  if (which != 0) shared->quads[at] = {row, column, which};
}

// Writes the next target, its patch and its quads to *shared, where no quad may be listed yet, and empties
// shared->front. Synchronises the block after its last write.
__device__ inline void take_target(const FillTask &task, const FillState &s, FillShared *shared) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, size = task.params.patch_size;
  TargetPatch &target = shared->target;
  // Every warp looks for the best row: that is quicker than to wait for another one.
  Key best = 0;
#pragma unroll 4
  for (int y = lane; y < s.area.height; y += 32) {
    const Key key = s.row_best[y];
    best = key > best ? key : best;
  }
  best = warp_max(best);
  if (thread == 0) target.key = best, shared->front_count = 0;
  // Whole warps take part, each with two rows of the patch.
  if (best != 0 && thread / 32 * 2 < size) {
    const PatchPixel own = patch_pixel(s, place_of_target(best), size / 2);
    const int at = s.index(own.x, own.y), confidence = own.inside ? s.confidence[at] : 0;
    const unsigned filled = __ballot_sync(kFullWarp, confidence > 0) >> (lane & 16) & 0xffff;
    const int sum = warp_sum(confidence);
    if (lane == 0) target.confidence[own.row / 2] = sum;
    if (own.row < size) {
      target.feature[own.row][own.column] = confidence > 0 ? s.words[at] & kComparedBytes : 0;
      if (own.column == 0) target.filled[own.row] = filled;
    }
    list_quads(own.row, own.column, filled, shared);
  }
  __syncthreads();
}

// True if the thread's pixel of the target's patch has to be filled.
__device__ inline bool must_fill(const TargetPatch &target, const PatchPixel &own) {
  return own.inside && (target.filled[own.row] >> own.column & 1) == 0;
}

// The part of put_patch() that does not depend on the source: gives the unfilled pixels of the target the confidence of
// its patch, which makes them count as filled, and lists the pixels whose priorities change. The list is complete after
// the next barrier of the block.
__device__ inline void announce_patch(const FillTask &task, const FillState &s, Place target,
                                      FillShared *shared) {
  const int size = task.params.patch_size, radius = size / 2, x = target.x - s.area.x,
            y = target.y - s.area.y;
  const PatchPixel own = patch_pixel(s, target, radius);
  if (must_fill(shared->target, own)) {
    const Bounds window = window_around(s.area, x, y, radius);
    int sum = 0;
    for (int i = 0; i < (size + 1) / 2; ++i) sum += shared->target.confidence[i];
    s.confidence[s.index(own.x, own.y)] =
        confidence_of(sum, (window.x1 - window.x0) * (window.y1 - window.y0));
  }
  __syncthreads();
  list_front(s, window_around(s.area, x, y, 2 * radius + 1), shared);
}

// Copies the patch at `shift` from the target to the target's unfilled pixels in the state and, if `writes` is set, in
// the picture. Then updates gradients and priorities. announce_patch() came before. Synchronises the block after its
// last write.
__device__ inline void put_patch(const FillTask &task, const FillState &s, Place target, Shift shift,
                                 bool writes, const FillShared &shared) {
  const int radius = task.params.patch_size / 2, x = target.x - s.area.x, y = target.y - s.area.y;
  const PatchPixel own = patch_pixel(s, target, radius);
  if (must_fill(shared.target, own)) {
    const int px = s.area.x + own.x, py = s.area.y + own.y, from_x = px + shift.x, from_y = py + shift.y;
    const std::uint32_t pixel = task.pixels[from_y * task.width + from_x];
    s.words[s.index(own.x, own.y)] = with_luma(task.features[from_y * task.pitch + from_x], pixel);
    if (writes) {
      task.pixels[py * task.width + px] = pixel;
      task.hole[py * task.width + px] = 0;
    }
  }
  __syncthreads();
  update_gradients(s, window_around(s.area, x, y, radius + 1));
  __syncthreads();
  const Bounds rated = window_around(s.area, x, y, 2 * radius + 1);
  rate_listed(s, rated, radius, shared);
  __syncthreads();
  rate_rows(s, rated.y0, rated.y1);
  __syncthreads();
}

}  // namespace cudavision::inpaint
