// SPDX-License-Identifier: LGPL-2.1-or-later
// The state that a block keeps: confidences and priorities in the area around the hole, updated after each patch.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/grid_barrier.cuh"
#include "cuda/inpaint/rating.cuh"

namespace cudavision::inpaint {

// The groups that have pixels in a window of the area: the columns [first, end) of groups, in the rows [y0, y1).
struct WindowGroups {
  int first, end, y0, y1;

  __device__ explicit WindowGroups(const Bounds &window)
      : first(window.x0 >> kGroupBits), end(divide_up(window.x1, kGroup)), y0(window.y0), y1(window.y1) {}
};

// The largest target_key() of the pixels of a group that lie outside of the window `without`. The pixels in the window
// are not read. (x, y): the first pixel of the group.
__device__ inline Key best_of_group(const BlockState &s, int x, int y, const Bounds &without) {
  const int at = s.index(x, y);
  const bool in_rows = y >= without.y0 && y < without.y1;
  std::uint32_t word[kGroup];
  ConfidenceCode code[kGroup];
#pragma unroll
  for (int k = 0; k < kGroup; ++k) {
    const bool left_out = in_rows && x + k >= without.x0 && x + k < without.x1;
    word[k] = left_out ? 0 : s.words[at + k];
    code[k] = left_out ? 0 : s.confidence[at + k];
  }
  std::uint32_t most = 0;
  int place = 0;
#pragma unroll
  for (int k = 0; k < kGroup; ++k) {
    const std::uint32_t priority = code[k] == 0 ? word[k] : 0;
    place = priority > most ? k : place;
    most = priority > most ? priority : most;
  }
  return most != 0 ? target_key(most, {s.area.x + x + place, s.area.y + y}) : Key{0};
}

// Computes BlockState::best of all groups. All threads of the block call it.
__device__ inline void rate_all_groups(const BlockState &s) {
  const int columns = s.groups_in_row();
  for (int i = static_cast<int>(threadIdx.x); i < columns * s.area.height; i += kFillThreads)
    s.best[i] = best_of_group(s, i % columns << kGroupBits, i / columns, {});
}

// Computes BlockState::best of the groups in two windows: `last`, the window of the last target, in which priorities
// have changed, and `window`, in which they are about to change. Pixels in `window` are left out.
template <typename Radius>
__device__ inline void rate_groups(const BlockState &s, const Bounds &last, const Bounds &window,
                                   Radius radius) {
  // How many threads take a row of groups: a power of two, and at least the groups in a row of a window.
  const int columns = rated_side(radius) <= 3 * kGroup + 1 ? 4 : 8, side = rated_side(radius);
  const WindowGroups changed(last), changing(window);
  for_share<ComparingWarps>(radius, 2 * side * columns, [&](int i) {
    const bool is_last = i < side * columns;
    const WindowGroups groups = is_last ? changed : changing;
    const int own = is_last ? i : i - side * columns, column = groups.first + own % columns,
              y = groups.y0 + own / columns;
    const bool is_changing =
        y >= changing.y0 && y < changing.y1 && column >= changing.first && column < changing.end;
    if (column < groups.end && y < groups.y1 && is_changing != is_last)
      s.best[y * s.groups_in_row() + column] = best_of_group(s, column << kGroupBits, y, window);
  });
}

// Stores the largest key that the lanes of a warp have found in FillShared::best. All of them must call this.
__device__ inline void note_best_of_warp(Key best, FillShared *shared) {
  best = warp_max(best);
  const int thread = FillBlock::own_thread();
  if (thread % 32 == 0) shared->best[thread / 32] = best;
}

// Searches BlockState::best for the largest key. Each of the ComparingWarps, which must all call this, stores the
// largest key of its share in FillShared::best.
__device__ inline void find_best_group(const BlockState &s, FillShared *shared) {
  using Team = ComparingWarps;
  constexpr int kAtOnce = 4;  // loads that do not wait for one another
  const int count = s.groups_in_row() * s.area.height;
  Key best = 0;
#pragma unroll 1
  for (int i = Team::own_thread(); i < count; i += kAtOnce * Team::kThreads) {
    Key key[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) key[k] = s.best[clamp_index(i + k * Team::kThreads, count)];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) best = key[k] > best ? key[k] : best;
  }
  note_best_of_warp(best, shared);
}

// A word with the bits [first, end) set. Both ends may lie outside of [0, 32].
__device__ inline std::uint32_t bits_between(int first, int end) {
  const auto below = [](int bit) { return bit >= 32 ? ~0u : (1u << (bit > 0 ? bit : 0)) - 1; };
  return below(end) & ~below(first);
}

// Computes the words of BlockState::interior and BlockState::front with the bits of 32 pixels from (x, y) on. added:
// pixels that count as filled, although they are not marked in BlockState::filled yet.
__device__ inline void derive_bits(const BlockState &s, int x, int y, const Bounds &added) {
  const int at = s.filled.index(x, y);
  std::uint32_t all[3], middle[3], above = 0, below = 0;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const int left = x + (k - 1) * 32;
    const std::uint32_t more = bits_between(added.x0 - left, added.x1 - left);
    const auto row = [&](int j) {
      const bool has_more = y + j >= added.y0 && y + j < added.y1;
      return s.filled.words[at + k - 1 + j * s.filled.pitch] | (has_more ? more : 0);
    };
    const std::uint32_t a = row(-1), b = row(1);
    middle[k] = row(0);
    all[k] = a & middle[k] & b;
    if (k == 1) above = a, below = b;
  }
  const auto left_of = [](const std::uint32_t(&w)[3]) { return w[1] << 1 | w[0] >> 31; };
  const auto right_of = [](const std::uint32_t(&w)[3]) { return w[1] >> 1 | w[2] << 31; };
  s.interior.words[at] = all[1] & left_of(all) & right_of(all);
  s.front.words[at] =
      ~middle[1] & (left_of(middle) | right_of(middle) | above | below) & bits_between(0, s.area.width - x);
}

// Initialises the pixels of the state from the frame. All threads of the block call it.
__device__ inline void load_state(const FillTask &task, const BlockState &s) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  for (int i = thread; i < s.bit_words(); i += kFillThreads)
    s.filled.words[i] = s.interior.words[i] = s.front.words[i] = 0;
  __syncthreads();
  // A warp initialises 32 pixels of a row at a time. It issues the loads for kAtOnce such parts before it uses any.
  constexpr int kAtOnce = 4;
  const int parts = divide_up(s.pitch, 32), all = parts * s.area.height;
#pragma unroll 1
  for (int begin = thread / 32; begin < all; begin += kAtOnce * kFillWarps) {
    std::uint8_t hole[kAtOnce];
    std::uint32_t feature[kAtOnce], pixel[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int i = clamp_index(begin + k * kFillWarps, all), own_x = i % parts * 32 + lane;
      const int x = s.area.x + (own_x < s.area.width ? own_x : 0), y = s.area.y + i / parts;
      hole[k] = task.hole[y * task.width + x];
      feature[k] = task.features[y * task.pitch + x], pixel[k] = task.pixels[y * task.width + x];
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int i = begin + k * kFillWarps, own_x = i % parts * 32 + lane, own_y = i / parts;
      if (i >= all) break;
      const bool filled = own_x < s.area.width && hole[k] == 0;
      const unsigned bits = __ballot_sync(kFullWarp, filled);
      if (lane == 0) s.filled.words[s.filled.index(own_x, own_y)] = bits;
      if (own_x >= s.pitch) continue;
      const int at = s.index(own_x, own_y);
      s.words[at] = filled ? with_luma(feature[k], pixel[k]) : 0;
      s.confidence[at] = filled ? code_of_confidence(kFullConfidence) : 0;
    }
  }
  __syncthreads();
  for (int i = thread; i < parts * s.area.height; i += kFillThreads)
    if (i % parts * 32 < s.area.width) derive_bits(s, i % parts * 32, i / parts, {});
  __syncthreads();
}

// Whether a window has a pixel of the front. A whole warp calls it.
__device__ inline bool has_front(const BlockState &s, const RatedWindow &window, int radius) {
  // Each lane tests one row of the window, whose pixels lie in at most two words.
  const int lane = static_cast<int>(threadIdx.x) % 32, side = rated_side(radius);
  const std::uint32_t *word =
      s.front.words +
      s.front.index(window.first.x, clamp_index(window.first.y + lane + 1, s.area.height + 2) - 1);
  const int end = window.first.x % 32 + side;
  const std::uint32_t bits =
      (word[0] & bits_between(window.first.x % 32, end)) | (word[1] & bits_between(0, end - 32));
  return __any_sync(kFullWarp, lane < side && bits != 0) != 0;
}

// Divides the area into windows, and computes the priorities of the front in those windows whose number is `first`
// modulo `step`. All threads of the block must call this.
template <typename Radius>
__device__ inline void rate_windows(const BlockState &s, Radius radius, int first, int step,
                                    const RatingScratch &scratch, FillShared *shared) {
  const int side = rated_side(radius);
  int number = step - first;
  for (int y = 0; y < s.area.height; y += side)
    for (int x = 0; x < s.area.width; x += side, ++number) {
      const RatedWindow window = window_at(s.area, {x, y}, radius);
      if (number % step != 0 || !has_front(s, window, radius)) continue;
      if (threadIdx.x == 0) shared->front_count = 0;
      __syncthreads();
      list_front<FillBlock>(s, window, radius, shared);
      compute_gradients<FillBlock>(s, window, {}, radius, scratch);
      __syncthreads();
      find_confidences<FillBlock>(s, window, radius, scratch, *shared);
      find_normals<FillBlock>(s, window, scratch, *shared);
      __syncthreads();
      rate_listed<FillBlock>(s, window, radius, scratch, *shared);
      __syncthreads();
    }
}

// Calls function(i) for the pixels of the front, each by one thread of the block; i: FillState::index().
template <typename Function>
__device__ inline void for_each_of_front(const BlockState &s, const Function &function) {
  for (int i = static_cast<int>(threadIdx.x); i < s.pitch * s.area.height; i += kFillThreads)
    if (s.front.has_in_any_row(i % s.pitch, i / s.pitch, s.area.height)) function(i);
}

// Initialises the state from the frame, and synchronises the block after the last write. All threads of the blocks that
// keep a state must call this: those of all blocks, which then share the work (kOwnState), or of the first block alone.
template <bool kOwnState, typename Radius>
__device__ inline void begin_state(const FillTask &task, const BlockState &s, Radius radius,
                                   const RatingScratch &scratch, FillShared *shared, GridBarrier *grid) {
  load_state(task, s);
  const int blocks = kOwnState ? static_cast<int>(gridDim.x) : 1, block = static_cast<int>(blockIdx.x);
  rate_windows(s, radius, block, blocks, scratch, shared);
  if (kOwnState && blocks > 1) {
    // The words of front pixels are 0, except for the priorities that this block has computed.
    auto *const shared_words = static_cast<std::uint32_t *>(task.state_memory);
    for_each_of_front(s, [&](int i) {
      if (s.words[i] != 0) shared_words[i] = s.words[i];
    });
    grid->wait();
    for_each_of_front(s, [&](int i) { s.words[i] = __ldcg(shared_words + i); });
    __syncthreads();
  }
  rate_all_groups(s);
  __syncthreads();
  if (ComparingWarps::hold_this_thread())
    find_best_group(s, shared);
  else if (FillBlock::own_thread() % 32 == 0)
    shared->best[FillBlock::own_thread() / 32] = 0;
  __syncthreads();
}

// --- functions that the StateWarps call ---

// The pixel of the target's patch that belongs to one of the StateWarps' threads. row, column: in TargetPatch. x, y: in
// the area. inside: false if the patch or the area has no such pixel.
struct PatchPixel {
  int row, column, x, y;
  bool inside;
};
static_assert(kMaxPatchSize * kTargetColumns <= StateWarps::kThreads);
__device__ inline PatchPixel patch_pixel(const BlockState &s, Place target, int radius) {
  const int row = StateWarps::own_thread() / kTargetColumns,
            column = StateWarps::own_thread() % kTargetColumns;
  const int dx = column - kTargetLeft, dy = row - radius;
  const int x = target.x - s.area.x + dx, y = target.y - s.area.y + dy;
  return {row, column, x, y, dx >= -radius && dx <= radius && dy <= radius && s.holds(x, y)};
}

// Lists the quads of the target's patch in FillShared::quads. All lanes of a warp must call this. filled: the element
// of TargetPatch::filled for the row with the lane's number, or 0 if the patch has no such row.
__device__ inline void list_quads(unsigned filled, FillShared *shared) {
  const int lane = FillBlock::own_thread() % 32;
  const unsigned before = (1u << lane) - 1;
  QuadCounts listed{0, 0};
#pragma unroll
  for (int column = 0; column < kTargetColumns; column += 4) {
    const unsigned which = filled >> column & 15;
    const unsigned whole = __ballot_sync(kFullWarp, which == 15),
                   part = __ballot_sync(kFullWarp, which != 0 && which != 15);
    const int at = which == 15 ? listed.whole + __popc(whole & before)
                               : kMaxQuads - 1 - listed.part - __popc(part & before);
    if (which != 0) shared->quads[at] = {lane, column, which};
    listed.whole += __popc(whole), listed.part += __popc(part);
  }
  if (lane == 0) shared->quad_counts = listed;
}

// Computes TargetPatch::filled, and lists the quads. A whole warp calls it.
template <typename Radius>
__device__ inline void list_filled(const BlockState &s, Place target, Radius radius, FillShared *shared) {
  const int row = FillBlock::own_thread() % 32, x = target.x - s.area.x - kTargetLeft,
            y = target.y - s.area.y - radius + row;
  const bool exists = row <= 2 * radius && y >= 0 && y < s.area.height;
  const unsigned columns = (2u << (2 * radius)) - 1;
  const unsigned filled = exists ? s.filled.bits_from(x, y) & columns << (kTargetLeft - radius) : 0;
  if (row <= 2 * radius) shared->target.filled[row] = filled;
  list_quads(filled, shared);
}

// Writes the next target's key and patch to *shared, except TargetPatch::filled, and empties FillShared::front. best:
// the target_key(), or 0 if no pixel of the front is left. All StateWarps must call this.
template <typename Radius>
__device__ inline void take_patch(const BlockState &s, Key best, Radius radius, FillShared *shared) {
  const int thread = StateWarps::own_thread(), lane = thread % 32, size = 2 * radius + 1;
  TargetPatch &target = shared->target;
  if (thread == 0) target.key = best, shared->front_count = 0;
  // Whole warps take part, each with two rows of the patch.
  if (best == 0 || thread / 32 * 2 >= size) return;
  const PatchPixel own = patch_pixel(s, place_of_target(best), radius);
  const int at = own.inside ? s.index(own.x, own.y) : 0;
  const std::uint32_t word = s.words[at];
  const int confidence = own.inside ? confidence_of_code(s.confidence[at]) : 0;
  if (own.row < size) target.feature[own.row][own.column] = confidence > 0 ? word & kComparedBytes : 0;
  const int sum = warp_sum(confidence);
  if (lane == 0) target.confidence[own.row / 2] = sum;
  shared->unfilled[thread] = own.inside && confidence == 0 ? at : -1;
}

// Stores the confidence of the patch at this thread's unfilled pixel, if there is one, which makes the pixel count as
// filled. middle: the target, in coordinates of the area.
template <typename Radius>
__device__ inline void give_confidence(const BlockState &s, Place middle, Radius radius,
                                       const FillShared &shared) {
  const int at = shared.unfilled[StateWarps::own_thread()];
  if (at < 0) return;
  int sum = 0;
  [[maybe_unused]] constexpr int kUnroll = kPatchUnroll<Radius>;  // read by nvcc alone
#pragma unroll kUnroll
  for (int i = 0; i <= radius; ++i) sum += shared.target.confidence[i];
  s.confidence[at] = code_of_confidence(confidence_around(s.area, middle.x, middle.y, radius, sum));
}

// Computes the words of BlockState::interior and BlockState::front that the patch changes.
template <typename Radius>
__device__ inline void update_bits(const BlockState &s, Place middle, const Bounds &patch, Radius radius) {
  constexpr int kWords = 2;  // as many as 2 * radius + 3 pixels of a row can touch
  // The last threads begin, because give_confidence() keeps the first ones busy.
  const int i = StateWarps::kThreads - 1 - StateWarps::own_thread(), y = middle.y - radius - 1 + i / kWords;
  const int left = middle.x - radius - 1, word = (left + 32) / 32 + i % kWords, x = (word - 1) * 32;
  if (i < (2 * radius + 3) * kWords && y >= 0 && y < s.area.height && x >= 0 && x < s.area.width)
    derive_bits(s, x, y, patch);
}

// The pixels of the area that are at most `radius` columns and rows away from the target.
__device__ inline Bounds around_target(const BlockState &s, const FillShared &shared, int radius) {
  const Place target = place_of_target(shared.target.key);
  return window_around(s.area, target.x - s.area.x, target.y - s.area.y, radius);
}

// Adds the pixels of the patch to BlockState::filled.
__device__ inline void add_filled(const BlockState &s, const Bounds &patch) {
  constexpr int kWords = 2;  // as many as a row of the largest patch can touch
  const int i = StateWarps::own_thread(), y = patch.y0 + i / kWords, x = (patch.x0 / 32 + i % kWords) * 32;
  if (y < patch.y1 && x < patch.x1)
    s.filled.words[s.filled.index(x, y)] |= bits_between(patch.x0 - x, patch.x1 - x);
}

// Marks the pixels of the target's patch as filled, except in BlockState::filled, which add_filled() updates.
template <typename Radius>
__device__ inline void mark_patch(const BlockState &s, Radius radius, const FillShared &shared) {
  const Place target = place_of_target(shared.target.key), middle{target.x - s.area.x, target.y - s.area.y};
  give_confidence(s, middle, radius, shared);
  update_bits(s, middle, around_target(s, shared, radius), radius);
}

// Copies the patch of a source to the target's unfilled pixels in the state and, if `writes` is set, in the picture.
__device__ inline void copy_patch(const FillTask &task, const BlockState &s, Place source, int radius,
                                  bool writes, const FillShared &shared) {
  const int thread = StateWarps::own_thread(), at = shared.unfilled[thread];
  if (at < 0) return;
  const int dx = thread % kTargetColumns - kTargetLeft, dy = thread / kTargetColumns - radius;
  const int x = source.x + dx, y = source.y + dy;
  const std::uint32_t pixel = task.pixels[y * task.width + x];
  s.words[at] = with_luma(task.features[y * task.pitch + x], pixel);
  if (writes) {
    const Place target = place_of_target(shared.target.key);
    const int filled = (target.y + dy) * task.width + target.x + dx;
    task.pixels[filled] = pixel;
    task.hole[filled] = 0;
  }
}

// Computes the gradients that depend on the source: at the patch and its neighbours, in the middle of the window.
template <typename Radius>
__device__ inline void end_gradients(const BlockState &s, Radius radius, const RatingScratch &scratch,
                                     const FillShared &shared) {
  const int side = 2 * radius + 3, first = 2 * radius;
  for_share<StateWarps>(radius, side * side, [&](int i) {
    const int column = first + i % side, row = first + i / side;
    scratch.keys[row * scratch_pitch(radius) + column] =
        key_at(s, shared.windows.rated, radius, true, column, row);
  });
}

}  // namespace cudavision::inpaint
