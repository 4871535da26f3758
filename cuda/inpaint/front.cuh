// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of the fill that a block keeps: confidence, gradients and priorities in the area around the hole,
// updated after each patch.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/warp.cuh"
#include "cuda/inpaint/fill_task.cuh"

namespace cudavision::inpaint {

constexpr int kFillThreads = 512, kFillWarps = kFillThreads / 32;

// The other shared memory of a block of the fill kernel.
struct FillShared {
  // The best source_key() that the block has found.
  Key best;
  Key warp_best[kFillWarps];
  TargetPatch target;
};

// The size of the state of an area: four words per pixel and one key per row.
CUDAVISION_HOST_DEVICE constexpr std::size_t state_bytes(Region area) {
  return static_cast<std::size_t>(area.width) * static_cast<std::size_t>(area.height) * 16 +
         static_cast<std::size_t>(area.height) * sizeof(std::uint64_t);
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

// --- functions that a whole warp calls ---

// The confidence term of a patch, and its longest gradient.
struct Rating {
  int confidence;
  std::uint32_t gradient;
};

// The rating of the patch around a pixel, in all lanes.
__device__ inline Rating rate_patch(const FillState &s, int x, int y, int radius, int lane) {
  const Bounds window = window_around(s.area, x, y, radius);
  const int width = window.x1 - window.x0, count = width * (window.y1 - window.y0);
  int sum = 0, longest = 0;
  for (int i = lane; i < count; i += 32) {
    const int at = s.index(window.x0 + i % width, window.y0 + i / width);
    sum += s.confidence[at];
    // The largest key belongs to the longest gradient and, of equal ones, to the first: squared lengths are
    // below 2^20 and indices below 2^8.
    const int key = squared_length(s.gradient[at]) << 8 | (255 - i);
    longest = key > longest ? key : longest;
  }
  longest = warp_max(longest);
  const int i = 255 - (longest & 255);
  return {confidence_of(warp_sum(sum), count),
          longest >> 8 == 0 ? 0 : s.gradient[s.index(window.x0 + i % width, window.y0 + i / width)]};
}

// Computes the priorities of the pixels [first, last) of a row, then the best target of the whole row.
__device__ inline void rate_row(const FillState &s, int y, int first, int last, int radius, int image_width,
                                int lane) {
  for (int x0 = first; x0 < last; x0 += 32) {
    const int x = x0 + lane;
    const bool front = x < last && on_front(s, x, y);
    if (x < last && !front) s.priority[s.index(x, y)] = 0;
    for (unsigned lanes = __ballot_sync(kFullWarp, front); lanes != 0; lanes &= lanes - 1) {
      const int at = x0 + __ffs(static_cast<int>(lanes)) - 1;
      const Rating rating = rate_patch(s, at, y, radius, lane);
      const Normal normal = normal_at(s, at, y);
      if (lane == 0)
        s.priority[s.index(at, y)] =
            __float_as_uint(priority_of(rating.confidence, rating.gradient, normal.x, normal.y));
    }
  }
  __syncwarp();
  Key best = 0;
  const int pixel = (s.area.y + y) * image_width + s.area.x;
  for (int x = lane; x < s.area.width; x += 32)
    if (const std::uint32_t priority = s.priority[s.index(x, y)]; priority != 0) {
      const Key key = target_key(priority, pixel + x);
      best = key > best ? key : best;
    }
  best = warp_max(best);
  if (lane == 0) s.row_best[y] = best;
}

// --- functions that a whole block calls ---

// Computes the gradients in one window of the area, then the priorities in another. Synchronises the block
// after its last write.
__device__ inline void rate_windows(const FillState &s, Bounds gradients, Bounds priorities, int radius,
                                    int image_width) {
  const int thread = static_cast<int>(threadIdx.x);
  const int width = gradients.x1 - gradients.x0, count = width * (gradients.y1 - gradients.y0);
  for (int i = thread; i < count; i += kFillThreads) {
    const int x = gradients.x0 + i % width, y = gradients.y0 + i / width;
    s.gradient[s.index(x, y)] = gradient_at(s, x, y);
  }
  __syncthreads();
  for (int y = priorities.y0 + thread / 32; y < priorities.y1; y += kFillWarps)
    rate_row(s, y, priorities.x0, priorities.x1, radius, image_width, thread % 32);
  __syncthreads();
}

// Initialises the state from the frame. Synchronises the block after its last write.
__device__ inline void begin_state(const FillTask &task, const FillState &s) {
  const int count = s.area.width * s.area.height;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kFillThreads) {
    const int pixel = (s.area.y + i / s.area.width) * task.width + s.area.x + i % s.area.width;
    s.words[i] = with_luma(task.features[pixel], task.pixels[pixel]);
    s.confidence[i] = task.hole[pixel] != 0 ? 0 : kFullConfidence;
  }
  __syncthreads();
  const Bounds whole{0, 0, s.area.width, s.area.height};
  rate_windows(s, whole, whole, task.params.patch_size / 2, task.width);
}

// Writes the next target and its patch to shared->target. Synchronises the block after its last write.
__device__ inline void take_target(const FillTask &task, const FillState &s, FillShared *shared) {
  const int thread = static_cast<int>(threadIdx.x), radius = task.params.patch_size / 2;
  Key best = 0;
  for (int y = thread; y < s.area.height; y += kFillThreads)
    best = s.row_best[y] > best ? s.row_best[y] : best;
  best = warp_max(best);
  if (thread % 32 == 0) shared->warp_best[thread / 32] = best;
  if (thread == 0) shared->target.count = 0;
  __syncthreads();
  for (const Key other : shared->warp_best) best = other > best ? other : best;
  if (thread == 0) shared->target.key = best;
  if (best != 0) {
    const int pixel = pixel_of_target(best);
    const int x = pixel % task.width - s.area.x, y = pixel / task.width - s.area.y;
    const Bounds window = window_around(s.area, x, y, radius);
    const int width = window.x1 - window.x0, count = width * (window.y1 - window.y0);
    for (int i = thread; i < count; i += kFillThreads) {
      const int px = window.x0 + i % width, py = window.y0 + i / width;
      if (!s.filled(px, py)) continue;
      const int at = atomicAdd(&shared->target.count, 1);  // the order of the pixels does not change a sum
      shared->target.offset[at] = (py - y) * task.width + (px - x);
      shared->target.feature[at] = s.words[s.index(px, py)] & kComparedBytes;
    }
  }
  __syncthreads();
}

// Copies the patch to the unfilled pixels of the target in the state and, if `writes` is set, in the picture.
// Then updates gradients and priorities. Synchronises the block after its last write.
__device__ inline void put_patch(const FillTask &task, const FillState &s, int target, int source,
                                 bool writes) {
  const int thread = static_cast<int>(threadIdx.x), radius = task.params.patch_size / 2;
  const int x = target % task.width - s.area.x, y = target / task.width - s.area.y;
  const int shift = source - target;
  const int confidence = rate_patch(s, x, y, radius, thread % 32).confidence;
  __syncthreads();
  const Bounds window = window_around(s.area, x, y, radius);
  const int width = window.x1 - window.x0, count = width * (window.y1 - window.y0);
  for (int i = thread; i < count; i += kFillThreads) {
    const int px = window.x0 + i % width, py = window.y0 + i / width;
    if (s.filled(px, py)) continue;
    const int to = (s.area.y + py) * task.width + s.area.x + px;
    const std::uint32_t pixel = task.pixels[to + shift];
    s.words[s.index(px, py)] = with_luma(task.features[to + shift], pixel);
    s.confidence[s.index(px, py)] = confidence;
    if (!writes) continue;
    task.pixels[to] = pixel;
    task.hole[to] = 0;
  }
  __syncthreads();
  rate_windows(s, window_around(s.area, x, y, radius + 1), window_around(s.area, x, y, 2 * radius + 1),
               radius, task.width);
}

}  // namespace cudavision::inpaint
