// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of the fill that a block keeps: confidences and priorities in the area around the hole, updated after each
// patch.
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

// The best target_key() of a group, without its pixels in a window. x: of its first pixel.
__device__ inline Key best_of_group(const BlockState &s, int x, int y, const Bounds &without) {
  const int at = s.index(x, y);
  const auto *words = reinterpret_cast<const uint4 *>(s.words + at);
  const uint4 codes = *reinterpret_cast<const uint4 *>(s.confidence + at), a = words[0], b = words[1];
  const std::uint32_t word[kGroup] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w},
                      code[4] = {codes.x, codes.y, codes.z, codes.w};
  const bool in_rows = y >= without.y0 && y < without.y1;
  std::uint32_t most = 0;
  int place = 0;
#pragma unroll
  for (int k = 0; k < kGroup; ++k) {
    const bool left_out = in_rows && x + k >= without.x0 && x + k < without.x1;
    const bool filled = (code[k / 2] & (k % 2 == 0 ? 0xffffu : 0xffff0000u)) != 0;
    const std::uint32_t priority = left_out || filled ? 0 : word[k];
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

// Computes BlockState::best of the groups in the window of the last target, where priorities have changed since, and of
// those in `window`, whose priorities are about to change: its pixels are left out.
template <typename Radius>
__device__ inline void rate_groups(const BlockState &s, const Bounds &last, const Bounds &window,
                                   Radius radius) {
  // At least as many as a window has groups in a row, and a power of two.
  const int columns = rated_side(radius) <= 3 * kGroup + 1 ? 4 : 8, side = rated_side(radius);
  const WindowGroups changed(last), changing(window);
  for_share<StateWarps>(radius, 2 * side * columns, [&](int i) {
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

// The best key in BlockState::best, to FillShared::best of the ComparingWarps, which call it.
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
  best = warp_max(best);
  if (threadIdx.x % 32 == 0) shared->best[threadIdx.x / 32] = best;
}

// Some pixels of the area as bits of one word of BitRows.
__device__ inline std::uint32_t bits_between(int first, int end) {
  const auto below = [](int bit) { return bit >= 32 ? ~0u : (1u << (bit > 0 ? bit : 0)) - 1; };
  return below(end) & ~below(first);
}

// Computes a word of BlockState::interior and one of BlockState::front. x: of the first pixel of the word. added: pixels
// that count as filled, although BlockState::filled does not have them yet.
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
  // A warp takes 32 pixels of a row.
  const int parts = divide_up(s.pitch, 32);
  for (int i = thread / 32; i < parts * s.area.height; i += kFillWarps) {
    const int own_x = i % parts * 32 + lane, own_y = i / parts, x = s.area.x + own_x, y = s.area.y + own_y;
    const bool filled = own_x < s.area.width && task.hole[y * task.width + x] == 0;
    const unsigned bits = __ballot_sync(kFullWarp, filled);
    if (lane == 0) s.filled.words[s.filled.index(own_x, own_y)] = bits;
    if (own_x >= s.pitch) continue;
    const int at = s.index(own_x, own_y);
    s.words[at] = filled ? with_luma(task.features[y * task.pitch + x], task.pixels[y * task.width + x]) : 0;
    s.confidence[at] = filled ? code_of_confidence(kFullConfidence) : 0;
  }
  __syncthreads();
  for (int i = thread; i < parts * s.area.height; i += kFillThreads)
    if (i % parts * 32 < s.area.width) derive_bits(s, i % parts * 32, i / parts, {});
  __syncthreads();
}

// Whether a window has a pixel of the front. A whole warp calls it.
__device__ inline bool has_front(const BlockState &s, const RatedWindow &window, int radius) {
  // A lane looks at a row, whose pixels lie in two words at most.
  const int lane = static_cast<int>(threadIdx.x) % 32, side = rated_side(radius);
  const std::uint32_t *word =
      s.front.words +
      s.front.index(window.first.x, clamp_index(window.first.y + lane + 1, s.area.height + 2) - 1);
  const int end = window.first.x % 32 + side;
  const std::uint32_t bits =
      (word[0] & bits_between(window.first.x % 32, end)) | (word[1] & bits_between(0, end - 32));
  return __any_sync(kFullWarp, lane < side && bits != 0) != 0;
}

// Rates all pixels of the front in windows, side by side: those whose number is `first` modulo `step`. All threads of the
// block call it.
template <typename Radius>
__device__ inline void rate_windows(const BlockState &s, Radius radius, int first, int step,
                                    const RatingScratch &scratch, FillShared *shared) {
  const int side = rated_side(radius);
  int number = step - first;
  for (int y = 0; y < s.area.height; y += side)
    for (int x = 0; x < s.area.width; x += side, ++number) {
      const RatedWindow window = window_at(s, {x, y}, radius);
      if (number % step != 0 || !has_front(s, window, radius)) continue;
      if (threadIdx.x == 0) shared->front_count = 0;
      __syncthreads();
      list_front<FillBlock>(s, window, radius, shared);
      compute_gradients<FillBlock>(s, window, {}, radius, scratch);
      sum_confidences<FillBlock>(s, window, radius, scratch);
      __syncthreads();
      find_longest_gradients<FillBlock>(radius, scratch);
      __syncthreads();
      const KnownRating known = first_known_rating<FillBlock>(s, window, radius, scratch, *shared);
      rate_listed<FillBlock>(s, window, radius, known, 0, 0, scratch, *shared);
      __syncthreads();
    }
}

// Calls function(i) for the pixels of the front, each by one thread of the block; i: FillState::index().
template <typename Function>
__device__ inline void for_each_of_front(const BlockState &s, const Function &function) {
  for (int i = static_cast<int>(threadIdx.x); i < s.pitch * s.area.height; i += kFillThreads)
    if (s.front.has_in_any_row(i % s.pitch, i / s.pitch, s.area.height)) function(i);
}

// Initialises the state from the frame. Synchronises the block after its last write. All threads of all blocks that keep a
// state call it: of the first block alone, or of all, which then share the work (kOwnState).
template <bool kOwnState, typename Radius>
__device__ inline void begin_state(const FillTask &task, const BlockState &s, Radius radius,
                                   const RatingScratch &scratch, FillShared *shared, GridBarrier *grid) {
  load_state(task, s);
  const int blocks = kOwnState ? static_cast<int>(gridDim.x) : 1, block = static_cast<int>(blockIdx.x);
  rate_windows(s, radius, block, blocks, scratch, shared);
  if (kOwnState && blocks > 1) {
    // A priority that this block has computed is not 0; all others are.
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
  else if (threadIdx.x % 32 == 0)
    shared->best[threadIdx.x / 32] = 0;
  __syncthreads();
}

// --- functions that the StateWarps call ---

// A pixel of a target's patch, relative to the area. `row` and `column` are those of TargetPatch. Each of the StateWarps'
// threads has one; `inside` is false if the patch or the area has no such pixel.
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

// Adds the quads of two rows of the target's patch to the lists. A whole warp calls it: each lane with its row and column
// of TargetPatch, and with that row's element of TargetPatch::filled, or 0 if the patch has no such row.
__device__ inline void list_quads(int row, int column, unsigned filled, FillShared *shared) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned which = column % 4 == 0 ? filled >> column & 15 : 0, before = (1u << lane) - 1;
  const unsigned whole = __ballot_sync(kFullWarp, which == 15),
                 part = __ballot_sync(kFullWarp, which != 0 && which != 15);
  unsigned counts = 0;
  if (lane == 0) counts = atomicAdd(&shared->quad_counts, QuadCounts{__popc(whole), __popc(part)}.word());
  const QuadCounts listed = QuadCounts::of(__shfl_sync(kFullWarp, counts, 0));
  const int at = which == 15 ? listed.whole + __popc(whole & before)
                             : kMaxQuads - 1 - listed.part - __popc(part & before);
  if (which != 0) shared->quads[at] = {row, column, which};
}

// The pixel of the target's patch that a thread has to fill, in the picture and in the state. at: -1 if there is none.
struct UnfilledPixel {
  int pixel, at;
};

// Writes the next target, its patch and its quads to *shared, where no quad may be listed yet, and empties
// shared->front. FillShared::best is complete.
template <typename Radius>
__device__ inline UnfilledPixel take_target(const FillTask &task, const BlockState &s, Radius radius,
                                            FillShared *shared) {
  const int thread = StateWarps::own_thread(), lane = thread % 32, size = 2 * radius + 1;
  TargetPatch &target = shared->target;
  // Every warp joins what all have found: that is quicker than to wait for another one.
  const Key best = warp_max(shared->best[lane < kFillWarps ? lane : 0]);
  if (thread == 0) target.key = best, shared->front_count = 0;
  // Whole warps take part, each with two rows of the patch.
  if (best == 0 || thread / 32 * 2 >= size) return {0, -1};
  const PatchPixel own = patch_pixel(s, place_of_target(best), radius);
  const int at = own.inside ? s.index(own.x, own.y) : 0;
  const std::uint32_t word = s.words[at];
  const int confidence = own.inside ? confidence_of_code(s.confidence[at]) : 0;
  const unsigned filled = __ballot_sync(kFullWarp, confidence > 0) >> (lane & 16) & 0xffff;
  if (own.row < size) {
    target.feature[own.row][own.column] = confidence > 0 ? word & kComparedBytes : 0;
    if (own.column == 0) target.filled[own.row] = filled;
  }
  list_quads(own.row, own.column, filled, shared);
  const int sum = warp_sum(confidence);
  if (lane == 0) target.confidence[own.row / 2] = sum;
  return {(s.area.y + own.y) * task.width + s.area.x + own.x, own.inside && confidence == 0 ? at : -1};
}

// Gives the thread's pixel of the patch the confidence of the patch, which makes it count as filled.
template <typename Radius>
__device__ inline void give_confidence(const BlockState &s, Place middle, Radius radius,
                                       const UnfilledPixel &own, const FillShared &shared) {
  if (own.at < 0) return;
  int sum = 0;
  [[maybe_unused]] constexpr int kUnroll = kPatchUnroll<Radius>;  // read by nvcc alone
#pragma unroll kUnroll
  for (int i = 0; i <= radius; ++i) sum += shared.target.confidence[i];
  s.confidence[own.at] = code_of_confidence(confidence_around(s.area, middle.x, middle.y, radius, sum));
}

// Computes the words of BlockState::interior and BlockState::front that the patch changes.
template <typename Radius>
__device__ inline void update_bits(const BlockState &s, Place middle, const Bounds &patch, Radius radius) {
  constexpr int kWords = 2;  // as many as a row of 2 * kMaxPatchSize / 2 + 3 pixels can have
  // From the last thread on: give_confidence() and rate_groups() keep the first ones busy.
  const int i = StateWarps::kThreads - 1 - StateWarps::own_thread(), y = middle.y - radius - 1 + i / kWords;
  const int left = middle.x - radius - 1, word = (left + 32) / 32 + i % kWords, x = (word - 1) * 32;
  if (i < (2 * radius + 3) * kWords && y >= 0 && y < s.area.height && x >= 0 && x < s.area.width)
    derive_bits(s, x, y, patch);
}

// Adds the pixels of the patch to BlockState::filled.
__device__ inline void add_filled(const BlockState &s, const Bounds &patch) {
  constexpr int kWords = 2;  // as many as a row of the largest patch can have
  const int i = StateWarps::own_thread(), y = patch.y0 + i / kWords, x = (patch.x0 / 32 + i % kWords) * 32;
  if (y < patch.y1 && x < patch.x1)
    s.filled.words[s.filled.index(x, y)] |= bits_between(patch.x0 - x, patch.x1 - x);
}

// Does a part of what the ratings need and what does not depend on the source of the target: marks the pixels of the patch as
// filled, and computes the gradients that are known. last: of the last target, RatedWindow::inner.
template <typename Radius>
__device__ inline void begin_ratings(const BlockState &s, const RatedWindow &window, const UnfilledPixel &own,
                                     const Bounds &last, Radius radius, const RatingScratch &scratch,
                                     const FillShared &shared) {
  const Place target = place_of_target(shared.target.key), middle{target.x - s.area.x, target.y - s.area.y};
  const Bounds patch = window_around(s.area, middle.x, middle.y, radius);
  give_confidence(s, middle, radius, own, shared);
  update_bits(s, middle, patch, radius);
  StateWarps::synchronize();
  add_filled(s, patch);
  compute_gradients<StateWarps>(s, window, window_around(s.area, middle.x, middle.y, radius + 1), radius,
                                scratch);
  rate_groups(s, last, window.inner, radius);
}

// Copies the patch of a source to the target's unfilled pixels in the state and, if `writes` is set, in the picture. Then
// updates the priorities of the listed pixels, and FillShared::best. rating: first_known_rating(). Synchronises the
// StateWarps after its last write.
template <typename Radius>
__device__ inline void put_patch(const FillTask &task, const BlockState &s, const UnfilledPixel &own,
                                 Place source, Radius radius, bool writes, const RatedWindow &window,
                                 const KnownRating &rating, const RatingScratch &scratch,
                                 FillShared *shared) {
  if (own.at >= 0) {
    const int row = StateWarps::own_thread() / kTargetColumns,
              column = StateWarps::own_thread() % kTargetColumns;
    const int x = source.x + column - kTargetLeft, y = source.y + row - radius;
    const std::uint32_t pixel = task.pixels[y * task.width + x];
    s.words[own.at] = with_luma(task.features[y * task.pitch + x], pixel);
    if (writes) {
      task.pixels[own.pixel] = pixel;
      task.hole[own.pixel] = 0;
    }
  }
  StateWarps::synchronize();
  // The gradients that depend on the source: those of the patch and of its neighbours, in the middle of the window.
  const int side = 2 * radius + 3, first = 2 * radius;
  for_share<StateWarps>(radius, side * side, [&](int i) {
    const int column = first + i % side, row = first + i / side;
    scratch.keys[row * scratch_pitch(radius) + column] = key_at(s, window, radius, true, column, row);
  });
  StateWarps::synchronize();
  const Key best =
      warp_max(rate_listed<StateWarps>(s, window, radius, rating, first, side, scratch, *shared));
  if (threadIdx.x % 32 == 0) shared->best[threadIdx.x / 32] = best;
  StateWarps::synchronize();
}

}  // namespace cudavision::inpaint
