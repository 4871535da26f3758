// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of the fill that a block keeps: confidence, gradients and priorities in the area around the hole,
// updated after each patch.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/warp.cuh"
#include "cuda/inpaint/fill_task.cuh"

namespace cudavision::inpaint {

constexpr int kFillThreads = 512, kFillWarps = kFillThreads / 32;

// The pixels of the front that a block lists at a time: the priorities of more do not change with one patch.
constexpr int kFrontCapacity = 2 * kFillThreads;
static_assert((4 * (kMaxPatchSize / 2) + 3) * (4 * (kMaxPatchSize / 2) + 3) <= kFrontCapacity);

// The other shared memory of a block of the fill kernel.
struct FillShared {
  TargetPatch target;
  // The best source_key() that the block has found.
  Key best;
  // Scratch memory of reductions.
  Key per_warp[kFillWarps];
  // Those of the last kFillWarps patches, in no order.
  Shift recent[kFillWarps];
  // The pixels of the front whose priorities have to be computed, as indices in the part of a window that was listed.
  int front_count;
  std::uint16_t front[kFrontCapacity];
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

constexpr int kRatingLanes = 16, kRowLanes = 16;

// The confidence term of a patch, and its longest gradient.
struct Rating {
  int confidence;
  std::uint32_t gradient;
};

// The rating of the patch around a pixel, in all kRatingLanes lanes of a group.
__device__ inline Rating rate_patch(const FillState &s, int x, int y, int radius, int lane) {
  const Bounds window = window_around(s.area, x, y, radius);
  const int width = window.x1 - window.x0, count = width * (window.y1 - window.y0);
  // i / width is (i * inverse) >> 16 for all i < 256.
  const int inverse = 65536 / width + 1;
  int sum = 0, longest = 0;
#pragma unroll 4
  for (int i = lane; i < count; i += kRatingLanes) {
    const int row = (i * inverse) >> 16;
    const int at = s.index(window.x0 + i - row * width, window.y0 + row);
    sum += s.confidence[at];
    // The largest key belongs to the longest gradient and, of equal ones, to the first: squared lengths are
    // below 2^20 and indices below 2^8.
    const int key = squared_length(s.gradient[at]) << 8 | (255 - i);
    longest = key > longest ? key : longest;
  }
  longest = warp_max(longest, kRatingLanes);
  const int i = 255 - (longest & 255), row = (i * inverse) >> 16;
  return {confidence_of(warp_sum(sum, kRatingLanes), count),
          longest >> 8 == 0 ? 0 : s.gradient[s.index(window.x0 + i - row * width, window.y0 + row)]};
}

// The best target_key() of a row of the area, in all kRowLanes lanes of a group.
__device__ inline Key best_of_row(const FillState &s, int y, int lane) {
  Key best = 0;
#pragma unroll 4
  for (int x = lane; x < s.area.width; x += kRowLanes) {
    const std::uint32_t priority = s.priority[s.index(x, y)];
    const Key key = priority != 0 ? target_key(priority, {s.area.x + x, s.area.y + y}) : 0;
    best = key > best ? key : best;
  }
  return warp_max(best, kRowLanes);
}

// --- functions that a whole block calls ---

// Lists the pixels of the front among pixels [begin, begin + kFrontCapacity) of a window, in row-major order, in
// shared->front, which must be empty, and clears the priorities of the others.
__device__ inline void list_front(const FillState &s, Bounds window, int begin, FillShared *shared) {
  const int width = window.x1 - window.x0, lane = static_cast<int>(threadIdx.x) % 32;
  for (int entry = static_cast<int>(threadIdx.x); entry < kFrontCapacity; entry += kFillThreads) {
    const int i = begin + entry, x = window.x0 + i % width, y = window.y0 + i / width;
    const bool inside = y < window.y1, front = inside && on_front(s, x, y);
    if (inside && !front) s.priority[s.index(x, y)] = 0;
    const unsigned lanes = __ballot_sync(kFullWarp, front);
    if (lanes == 0) continue;
    int at = 0;
    if (lane == 0) at = atomicAdd(&shared->front_count, __popc(lanes));
    at = __shfl_sync(kFullWarp, at, 0) + __popc(lanes & ((1u << lane) - 1));
    if (front) shared->front[at] = static_cast<std::uint16_t>(entry);
  }
}

// Computes the priorities of the pixels that list_front() has listed.
__device__ inline void rate_listed(const FillState &s, Bounds window, int begin, int radius,
                                   const FillShared &shared) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kRatingLanes, count = shared.front_count;
  const int width = window.x1 - window.x0;
  constexpr int kPerWarp = 32 / kRatingLanes;
  for (int first = thread / 32 * kPerWarp; first < count; first += kFillWarps * kPerWarp) {
    const int own = first + thread % 32 / kRatingLanes;
    // Groups without a pixel repeat the last one.
    const int i = begin + shared.front[own < count ? own : count - 1];
    const int x = window.x0 + i % width, y = window.y0 + i / width;
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

__device__ inline void update_gradients(const FillState &s, Bounds window) {
  const int width = window.x1 - window.x0, count = width * (window.y1 - window.y0);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kFillThreads) {
    const int x = window.x0 + i % width, y = window.y0 + i / width;
    s.gradient[s.index(x, y)] = gradient_at(s, x, y);
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
  const Bounds whole{0, 0, s.area.width, s.area.height};
  update_gradients(s, whole);
  for (int begin = 0; begin < count; begin += kFrontCapacity) {
    if (threadIdx.x == 0) shared->front_count = 0;
    __syncthreads();
    list_front(s, whole, begin, shared);
    __syncthreads();
    rate_listed(s, whole, begin, task.params.patch_size / 2, *shared);
    __syncthreads();
  }
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

// Writes the next target and its patch to shared->target, and empties shared->front. Synchronises the block after its
// last write.
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
    if (confidence > 0) target.feature[own.row][own.column] = s.words[at] & kComparedBytes;
    const unsigned filled = __ballot_sync(kFullWarp, confidence > 0) >> (lane & 16) & 0xffff;
    if (own.column == 0 && own.row < size) target.filled[own.row] = filled;
    const int sum = warp_sum(confidence);
    if (lane == 0) target.confidence[own.row / 2] = sum;
  }
  __syncthreads();
}

// The part of put_patch() that does not depend on the source: gives the unfilled pixels of the target the confidence of
// its patch, which makes them count as filled, and lists the pixels whose priorities change. The list is complete after
// the next barrier of the block.
__device__ inline void announce_patch(const FillTask &task, const FillState &s, Place target,
                                      FillShared *shared) {
  const int size = task.params.patch_size, radius = size / 2, x = target.x - s.area.x,
            y = target.y - s.area.y;
  const PatchPixel own = patch_pixel(s, target, radius);
  if (own.inside && (shared->target.filled[own.row] >> own.column & 1) == 0) {
    const Bounds window = window_around(s.area, x, y, radius);
    int sum = 0;
    for (int i = 0; i < (size + 1) / 2; ++i) sum += shared->target.confidence[i];
    s.confidence[s.index(own.x, own.y)] =
        confidence_of(sum, (window.x1 - window.x0) * (window.y1 - window.y0));
  }
  __syncthreads();
  list_front(s, window_around(s.area, x, y, 2 * radius + 1), 0, shared);
}

// Copies the patch at `shift` from the target to the target's unfilled pixels in the state and, if `writes` is set, in
// the picture. Then updates gradients and priorities. announce_patch() came before. Synchronises the block after its
// last write.
__device__ inline void put_patch(const FillTask &task, const FillState &s, Place target, Shift shift,
                                 bool writes, const FillShared &shared) {
  const int radius = task.params.patch_size / 2, x = target.x - s.area.x, y = target.y - s.area.y;
  const PatchPixel own = patch_pixel(s, target, radius);
  if (own.inside && (shared.target.filled[own.row] >> own.column & 1) == 0) {
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
  rate_listed(s, rated, 0, radius, shared);
  __syncthreads();
  rate_rows(s, rated.y0, rated.y1);
  __syncthreads();
}

}  // namespace cudavision::inpaint
