// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of the fill that a block keeps: confidences and priorities in the area around the hole, updated after each
// patch.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/resident_blocks.h"
#include "cuda/common/warp.cuh"
#include "cuda/inpaint/fill_task.cuh"

namespace cudavision::inpaint {

constexpr int kFillThreads = 512, kFillWarps = kFillThreads / 32;

// Kernels and functions take the radius of a patch as a Radius: an int, or a FixedRadius, with which the compiler unrolls the
// loops over a patch. kPatchUnroll: in how many steps of two rows at a time. kLineUnroll: over the pixels of a row or
// a column.
template <int kRadius>
struct FixedRadius {
  CUDAVISION_HOST_DEVICE constexpr operator int() const { return kRadius; }
};
template <typename Radius>
constexpr int kPatchUnroll = 4;
template <int kRadius>
constexpr int kPatchUnroll<FixedRadius<kRadius>> = kRadius + 1;
template <typename Radius>
constexpr int kLineUnroll = kSpillsSooner ? 3 : 1;
template <int kRadius>
constexpr int kLineUnroll<FixedRadius<kRadius>> = 2 * kRadius + 1;

// The side of the windows in which priorities are computed: those that change with one patch fit into one.
CUDAVISION_HOST_DEVICE constexpr int rated_side(int radius) { return radius <= 4 ? 19 : 4 * radius + 3; }
constexpr int kMaxRatedSide = rated_side(kMaxPatchSize / 2);
static_assert(kMaxRatedSide <= 32, "a row fits into a warp");

// The other shared memory of a block of the fill kernel.
struct FillShared {
  TargetPatch target;
  // The quads of the target's patch. The first `whole_quads` elements are those with four filled pixels; they are
  // compared first, because they tell most. The last `part_quads` elements are the others. Both are in no order.
  int whole_quads, part_quads;
  PatchQuad quads[kMaxQuads];
  // The least sum of a candidate that the block has found, and the best source_key() that each warp has found.
  int least_sum;
  Key found[kFillWarps];
  // A copy of *FillTask::stop in the first block, otherwise 0.
  uint4 stop;
  // Scratch memory of reductions.
  Key per_warp[kFillWarps];
  // The shifts of the last kFillWarps patches, in no order.
  Shift recent[kFillWarps];
  // The pixels of the front in a window whose priorities have to be computed: row * 32 + column.
  int front_count;
  std::uint16_t front[kMaxRatedSide * 32];
};

// Shared memory of a block, for the priorities in a window.
struct RatingScratch {
  // The gradient_key() of each pixel of the window, and of `radius` pixels around it, in rows of `pitch` elements.
  int pitch;
  int *keys;
  // For each of these rows and each column of the window: a sum or a maximum over the row of the patch around that column;
  // see join_rows(). Two columns are a pair; a row has scratch_row_pairs(radius) of them.
  int2 *rows;
};
CUDAVISION_HOST_DEVICE constexpr int scratch_pitch(int radius) { return rated_side(radius) + 2 * radius; }
CUDAVISION_HOST_DEVICE constexpr int scratch_row_pairs(int radius) { return (rated_side(radius) + 1) / 2; }
// A multiple of 16.
CUDAVISION_HOST_DEVICE constexpr std::size_t scratch_bytes(int radius) {
  const int pitch = scratch_pitch(radius);
  return static_cast<std::size_t>(pitch * (pitch + 2 * scratch_row_pairs(radius)) + 3) / 4 * 16;
}
__device__ inline RatingScratch scratch_in(unsigned char *memory, int radius) {
  const int pitch = scratch_pitch(radius), pairs = scratch_row_pairs(radius);
  auto *rows = reinterpret_cast<int2 *>(memory);
  return {pitch, reinterpret_cast<int *>(rows + pitch * pairs), rows};
}

// The size of the state of an area, a multiple of 16: a word and a code per pixel and one key per row.
CUDAVISION_HOST_DEVICE constexpr std::size_t state_bytes(Region area) {
  const std::size_t pixels = static_cast<std::size_t>(area.width) * static_cast<std::size_t>(area.height);
  const std::size_t bytes = pixels * (sizeof(std::uint32_t) + sizeof(ConfidenceCode)) +
                            static_cast<std::size_t>(area.height) * sizeof(std::uint64_t);
  return (bytes + 15) / 16 * 16;
}
constexpr std::size_t kFillSharedBytes = (sizeof(FillShared) + 15) / 16 * 16;

// Lays out the state in state_bytes(area) bytes of memory.
__device__ inline FillState state_in(unsigned char *memory, Region area) {
  FillState s;
  s.area = area;
  s.row_best = reinterpret_cast<std::uint64_t *>(memory);
  s.words = reinterpret_cast<std::uint32_t *>(s.row_best + area.height);
  s.confidence = reinterpret_cast<ConfidenceCode *>(s.words + area.width * area.height);
  return s;
}

// --- functions that groups of lanes call, all groups of a warp at the same time ---

constexpr int kRowLanes = 16;

// The best target_key() of a row of the area, in all kRowLanes lanes of a group.
__device__ inline Key best_of_row(const FillState &s, int y, int lane) {
  std::uint32_t most = 0;
  int at = 0;
#pragma unroll 4
  for (int x = lane; x < s.area.width; x += kRowLanes) {
    const std::uint32_t priority = s.priority(s.index(x, y));
    at = priority > most ? x : at;
    most = priority > most ? priority : most;
  }
  return warp_max(most != 0 ? target_key(most, {s.area.x + at, s.area.y + y}) : Key{0}, kRowLanes);
}

// --- functions that a whole block calls ---

// Lists the pixels of the front in a window of at most rated_side(radius) columns and rows in shared->front, which must be
// empty.
template <typename Radius>
__device__ inline void list_front(const FillState &s, Bounds window, Radius radius, FillShared *shared) {
  const int side = rated_side(radius), lane = static_cast<int>(threadIdx.x) % 32;
  // Whole warps take part.
  for (int i = static_cast<int>(threadIdx.x); i - lane < side * side; i += kFillThreads) {
    const int column = i % side, row = i / side, x = window.x0 + column, y = window.y0 + row;
    const bool front = x < window.x1 && y < window.y1 && on_front(s, x, y);
    const unsigned lanes = __ballot_sync(kFullWarp, front);
    if (lanes == 0) continue;
    int at = 0;
    if (lane == 0) at = atomicAdd(&shared->front_count, __popc(lanes));
    at = __shfl_sync(kFullWarp, at, 0) + __popc(lanes & ((1u << lane) - 1));
    if (front) shared->front[at] = static_cast<std::uint16_t>(row * 32 + column);
  }
}

// A window of which priorities are computed.
struct RatedWindow {
  // The window, and all pixels of the area in the patches around its pixels.
  Bounds inner, outer;

  __device__ RatedWindow(Region area, Bounds window, int radius)
      : inner(window),
        outer{window.x0 - radius > 0 ? window.x0 - radius : 0,
              window.y0 - radius > 0 ? window.y0 - radius : 0,
              window.x1 + radius < area.width ? window.x1 + radius : area.width,
              window.y1 + radius < area.height ? window.y1 + radius : area.height} {}
};

// The window of the priorities that change with the patch of shared.target. It takes eight registers, so it is computed
// wherever it is needed rather than kept during the search.
__device__ inline RatedWindow rated_window(const FillState &s, const FillShared &shared, int radius) {
  const Place target = place_of_target(shared.target.key);
  return {s.area, window_around(s.area, target.x - s.area.x, target.y - s.area.y, 2 * radius + 1), radius};
}

// The largest key belongs to the longest gradient and, of equal ones, to the first. (x, y): the pixel relative to `outer`.
constexpr int kKeySideBits = 6;
static_assert(scratch_pitch(kMaxPatchSize / 2) <= 1 << kKeySideBits);
static_assert(2 * 255 * 255 < 1 << (31 - 2 * kKeySideBits));
__device__ constexpr int gradient_key(std::uint32_t gradient, int x, int y) {
  constexpr int kPlaces = 1 << (2 * kKeySideBits);
  return squared_length(gradient) * kPlaces + (kPlaces - 1 - (y << kKeySideBits | x));
}
// The gradient with this key, which is 0 if its length is.
__device__ inline std::uint32_t gradient_of_key(const FillState &s, const RatedWindow &window, int key) {
  constexpr int kPlaceMask = (1 << (2 * kKeySideBits)) - 1;
  if (key <= kPlaceMask) return 0;
  const int place = kPlaceMask - (key & kPlaceMask);
  return luma_gradient(s, window.outer.x0 + place % (1 << kKeySideBits),
                       window.outer.y0 + (place >> kKeySideBits));
}

// Computes RatingScratch::keys. A pixel has a gradient if it and its eight neighbours are filled, as on the CPU
// (ExemplarFill::update_gradients()): a lane looks at three pixels of a column, and learns from its warp what the columns
// beside it have.
__device__ inline void compute_gradients(const FillState &s, const RatedWindow &window,
                                         const RatingScratch &scratch) {
  constexpr int kColumns = 30;  // the outermost lanes have columns that only their neighbours need
  const int lane = static_cast<int>(threadIdx.x) % 32, width = s.area.width;
  for (int y = window.outer.y0 + static_cast<int>(threadIdx.x) / 32; y < window.outer.y1; y += kFillWarps)
    for (int first = window.outer.x0; first < window.outer.x1; first += kColumns) {
      const int x = first + lane - 1, at = s.index(x, y);
      const bool has_neighbours = x >= 0 && x < width && y > 0 && y + 1 < s.area.height;
      const bool filled = has_neighbours && (s.confidence[at - width] > 0) & (s.confidence[at] > 0) &
                                                (s.confidence[at + width] > 0);
      const unsigned columns = __ballot_sync(kFullWarp, filled);
      if (lane < 1 || lane > kColumns || x >= window.outer.x1) continue;
      const std::uint32_t gradient = (columns >> (lane - 1) & 7) == 7 ? luma_gradient(s, x, y) : 0;
      const int own_x = x - window.outer.x0, own_y = y - window.outer.y0;
      scratch.keys[own_y * scratch.pitch + own_x] = gradient_key(gradient, own_x, own_y);
    }
}

// How values are joined.
struct Sum {
  __device__ int operator()(int a, int b) const { return a + b; }
};
struct Largest {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

// Computes RatingScratch::rows. value(x, y): of a pixel of window.outer, at least 0. join(a, b): of two values. A thread
// computes two columns of a row, whose patches have all pixels but one in common.
template <typename Radius, typename Value, typename Join>
__device__ inline void join_rows(const RatedWindow &window, Radius radius, const RatingScratch &scratch,
                                 const Value &value, const Join &join) {
  const int pairs = scratch_row_pairs(radius), width = window.outer.x1 - window.outer.x0,
            count = pairs * (window.outer.y1 - window.outer.y0);
  // From the last thread on: list_front() keeps the first ones busy.
  for (int i = kFillThreads - 1 - static_cast<int>(threadIdx.x); i < count; i += kFillThreads) {
    const int own_y = i / pairs, y = window.outer.y0 + own_y;
    // The leftmost pixel of the patch around the first column.
    const int left = window.inner.x0 + i % pairs * 2 - radius;
    const auto value_at = [&](int k) {
      const int x = left + k;
      return static_cast<unsigned>(x - window.outer.x0) < static_cast<unsigned>(width) ? value(x, y) : 0;
    };
    int common = value_at(1);
    [[maybe_unused]] constexpr int kUnroll = kLineUnroll<Radius>;  // read by nvcc alone
#pragma unroll kUnroll
    for (int k = 2; k <= 2 * radius; ++k) common = join(common, value_at(k));
    scratch.rows[i] = {join(common, value_at(0)), join(common, value_at(2 * radius + 1))};
  }
}

// A pixel that list_front() has listed.
struct ListedPixel {
  int x, y;

  __device__ ListedPixel(const FillShared &shared, const RatedWindow &window, int entry)
      : x(window.inner.x0 + shared.front[entry] % 32), y(window.inner.y0 + shared.front[entry] / 32) {}
};

// Joins the elements of RatingScratch::rows in the rows of the patch around a listed pixel.
template <typename Radius, typename Join>
__device__ inline int join_columns(const RatedWindow &window, Radius radius, const RatingScratch &scratch,
                                   ListedPixel pixel, const Join &join) {
  const auto *rows = reinterpret_cast<const int *>(scratch.rows) + pixel.x - window.inner.x0;
  const int top = pixel.y - radius - window.outer.y0, height = window.outer.y1 - window.outer.y0;
  int value = 0;
  [[maybe_unused]] constexpr int kUnroll = kLineUnroll<Radius>;  // read by nvcc alone
#pragma unroll kUnroll
  for (int k = 0; k <= 2 * radius; ++k)
    if (static_cast<unsigned>(top + k) < static_cast<unsigned>(height))
      value = join(value, rows[(top + k) * (2 * scratch_row_pairs(radius))]);
  return value;
}

// Computes RatingScratch::rows as sums of confidences.
template <typename Radius>
__device__ inline void sum_confidences(const FillState &s, const RatedWindow &window, Radius radius,
                                       const RatingScratch &scratch) {
  join_rows(
      window, radius, scratch, [&](int x, int y) { return confidence_of_code(s.confidence[s.index(x, y)]); },
      Sum());
}

// Computes RatingScratch::rows as the largest gradient_key() of each row.
template <typename Radius>
__device__ inline void find_longest_gradients(const RatedWindow &window, Radius radius,
                                              const RatingScratch &scratch) {
  const int *keys = scratch.keys - window.outer.y0 * scratch.pitch - window.outer.x0;
  join_rows(
      window, radius, scratch, [&](int x, int y) { return keys[y * scratch.pitch + x]; }, Largest());
}

// The confidence of the patch around a pixel of the area, whose pixels have this sum of confidences.
template <typename Radius>
__device__ inline int confidence_around(Region area, int x, int y, Radius radius, int sum) {
  const Bounds patch = window_around(area, x, y, radius);
  const int pixels = (patch.x1 - patch.x0) * (patch.y1 - patch.y0), all = (2 * radius + 1) * (2 * radius + 1);
  // A division by a constant takes a quarter of the instructions.
  return pixels == all ? confidence_of(sum, all) : confidence_of(sum, pixels);
}

// What the priority of a listed pixel depends on, besides gradients. RatingScratch::rows: of sum_confidences().
template <typename Radius>
__device__ inline FrontPixel front_pixel_of(const FillState &s, const RatedWindow &window, Radius radius,
                                            const RatingScratch &scratch, ListedPixel pixel) {
  const int sum = join_columns(window, radius, scratch, pixel, Sum());
  return front_pixel(confidence_around(s.area, pixel.x, pixel.y, radius, sum),
                     normal_at(s, pixel.x, pixel.y));
}

// Of the thread's first listed pixel, if it has one.
template <typename Radius>
__device__ inline FrontPixel first_front_pixel(const FillState &s, const RatedWindow &window, Radius radius,
                                               const RatingScratch &scratch, const FillShared &shared) {
  const int entry = static_cast<int>(threadIdx.x);
  if (entry >= shared.front_count) return {};
  return front_pixel_of(s, window, radius, scratch, ListedPixel(shared, window, entry));
}

// Computes the priorities of the listed pixels. RatingScratch::keys is complete, and no thread reads RatingScratch::rows
// any more. first: first_front_pixel().
template <typename Radius>
__device__ inline void rate_listed(const FillState &s, const RatedWindow &window, Radius radius,
                                   const FrontPixel &first, const RatingScratch &scratch,
                                   const FillShared &shared) {
  const int count = shared.front_count;
  for (int begin = 0; begin < count; begin += kFillThreads) {
    const int entry = begin + static_cast<int>(threadIdx.x);
    const ListedPixel pixel(shared, window, entry < count ? entry : count - 1);
    FrontPixel rated = first;
    if (begin > 0) {  // seldom: each thread has rated a pixel, and pixels are left
      __syncthreads();
      sum_confidences(s, window, radius, scratch);
      __syncthreads();
      rated = front_pixel_of(s, window, radius, scratch, pixel);
      __syncthreads();
    }
    find_longest_gradients(window, radius, scratch);
    __syncthreads();
    if (entry >= count) continue;
    const int longest = join_columns(window, radius, scratch, pixel, Largest());
    // Priorities take the place of words of unfilled pixels, which nothing reads as words.
    s.words[s.index(pixel.x, pixel.y)] =
        __float_as_uint(priority_of(rated, gradient_of_key(s, window, longest)));
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
template <typename Radius>
__device__ inline void begin_state(const FillTask &task, const FillState &s, Radius radius,
                                   const RatingScratch &scratch, FillShared *shared) {
  const int count = s.area.width * s.area.height, side = rated_side(radius);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kFillThreads) {
    const int x = s.area.x + i % s.area.width, y = s.area.y + i / s.area.width;
    const int pixel = y * task.width + x;
    const bool filled = task.hole[pixel] == 0;
    s.words[i] = filled ? with_luma(task.features[y * task.pitch + x], task.pixels[pixel]) : 0;
    s.confidence[i] = filled ? code_of_confidence(kFullConfidence) : 0;
  }
  for (int y = 0; y < s.area.height; y += side)
    for (int x = 0; x < s.area.width; x += side) {
      const RatedWindow window(s.area,
                               {x, y, x + side < s.area.width ? x + side : s.area.width,
                                y + side < s.area.height ? y + side : s.area.height},
                               radius);
      if (threadIdx.x == 0) shared->front_count = 0;
      __syncthreads();
      list_front(s, window.inner, radius, shared);
      __syncthreads();
      if (shared->front_count > 0) {
        compute_gradients(s, window, scratch);
        sum_confidences(s, window, radius, scratch);
        __syncthreads();
        const FrontPixel front = first_front_pixel(s, window, radius, scratch, *shared);
        __syncthreads();
        rate_listed(s, window, radius, front, scratch, *shared);
      }
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
template <typename Radius>
__device__ inline void take_target(const FillState &s, Radius radius, FillShared *shared) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, size = 2 * radius + 1;
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
    const PatchPixel own = patch_pixel(s, place_of_target(best), radius);
    const int at = s.index(own.x, own.y), confidence = own.inside ? confidence_of_code(s.confidence[at]) : 0;
    const unsigned filled = __ballot_sync(kFullWarp, confidence > 0) >> (lane & 16) & 0xffff;
    const int sum = warp_sum(confidence);
    if (lane == 0) target.confidence[own.row / 2] = sum;
    if (own.row < size) {
      const std::uint32_t word = s.words[own.inside ? at : 0];
      target.feature[own.row][own.column] = confidence > 0 ? word & kComparedBytes : 0;
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

// Gives the unfilled pixels of the target the confidence of its patch, which makes them count as filled.
template <typename Radius>
__device__ inline void give_confidence(const FillState &s, Place target, Radius radius, FillShared *shared) {
  const int x = target.x - s.area.x, y = target.y - s.area.y;
  const PatchPixel own = patch_pixel(s, target, radius);
  if (must_fill(shared->target, own)) {
    int sum = 0;
    [[maybe_unused]] constexpr int kUnroll = kPatchUnroll<Radius>;  // read by nvcc alone
#pragma unroll kUnroll
    for (int i = 0; i <= radius; ++i) sum += shared->target.confidence[i];
    s.confidence[s.index(own.x, own.y)] = code_of_confidence(confidence_around(s.area, x, y, radius, sum));
  }
}

// Copies the patch at `shift` from shared.target to the target's unfilled pixels in the state and, if `writes` is set, in
// the picture. Then updates the priorities of the listed pixels. first: first_front_pixel(). Synchronises the block after
// its last write.
template <typename Radius>
__device__ inline void put_patch(const FillTask &task, const FillState &s, Shift shift, Radius radius,
                                 bool writes, const FrontPixel &first, const RatingScratch &scratch,
                                 const FillShared &shared) {
  const PatchPixel own = patch_pixel(s, place_of_target(shared.target.key), radius);
  if (must_fill(shared.target, own)) {
    const int px = s.area.x + own.x, py = s.area.y + own.y, from_x = px + shift.x, from_y = py + shift.y;
    const std::uint32_t pixel = task.pixels[from_y * task.width + from_x];
    s.words[s.index(own.x, own.y)] = with_luma(task.features[from_y * task.pitch + from_x], pixel);
    if (writes) {
      task.pixels[py * task.width + px] = pixel;
      task.hole[py * task.width + px] = 0;
    }
  }
  const RatedWindow window = rated_window(s, shared, radius);
  __syncthreads();
  compute_gradients(s, window, scratch);
  __syncthreads();
  rate_listed(s, window, radius, first, scratch, shared);
  __syncthreads();
  rate_rows(s, window.inner.y0, window.inner.y1);
  __syncthreads();
}

}  // namespace cudavision::inpaint
