// SPDX-License-Identifier: LGPL-2.1-or-later
// The priorities of the pixels of the front in a window. All threads of a Team call these functions: of the StateWarps,
// or of the whole block (FillBlock).
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/warp.cuh"
#include "cuda/inpaint/fill_shared.cuh"

namespace cudavision::inpaint {

// A window of which priorities are computed: rated_side(radius) columns and rows of the area, of which some may lie beyond
// its borders.
struct RatedWindow {
  // Its first pixel, and its pixels in the area.
  Place first;
  Bounds inner;
};
__device__ inline RatedWindow window_at(const BlockState &s, Place first, int radius) {
  const int side = rated_side(radius), right = first.x + side, bottom = first.y + side;
  return {first,
          {first.x > 0 ? first.x : 0, first.y > 0 ? first.y : 0, right < s.area.width ? right : s.area.width,
           bottom < s.area.height ? bottom : s.area.height}};
}
// The window of the priorities that change with the patch around a pixel of the area. (If the radius is small, the window
// is larger.)
__device__ inline RatedWindow window_of_target(const BlockState &s, Place target, int radius) {
  return window_at(s, {target.x - 2 * radius - 1, target.y - 2 * radius - 1}, radius);
}

// Lists the pixels of the front in a window in shared->front, which must be empty.
template <typename Team, typename Radius>
__device__ inline void list_front(const BlockState &s, const RatedWindow &window, Radius radius,
                                  FillShared *shared) {
  // A warp has every Team::kWarps-th row, and a lane a column.
  constexpr int kMostRows = divide_up(rated_side(largest_radius(Radius{})), Team::kWarps);
  const int side = rated_side(radius), warp = Team::own_thread() / 32, lane = Team::own_thread() % 32;
  unsigned front[kMostRows];
  int count = 0;
#pragma unroll
  for (int k = 0; k < kMostRows; ++k) {
    const int row = warp + k * Team::kWarps;
    const bool is_front = s.front.has_in_any_row(window.first.x + lane, window.first.y + row, s.area.height);
    front[k] = __ballot_sync(kFullWarp, is_front && lane < side && row < side);
    count += __popc(front[k]);
  }
  if (count == 0) return;
  int at = 0;
  if (lane == 0) at = atomicAdd(&shared->front_count, count);
  at = __shfl_sync(kFullWarp, at, 0);
#pragma unroll
  for (int k = 0; k < kMostRows; ++k) {
    if ((front[k] >> lane & 1) != 0)
      shared->front[at + __popc(front[k] & ((1u << lane) - 1))] =
          static_cast<std::uint16_t>((warp + k * Team::kWarps) * 32 + lane);
    at += __popc(front[k]);
  }
}

// The largest key belongs to the longest gradient and, of equal ones, to the first. (x, y): the pixel, as
// RatingScratch::keys counts. The key of a pixel without a gradient, or with one of length 0, is less than kLeastKey.
constexpr int kKeySideBits = 6, kLeastKey = 1 << (2 * kKeySideBits);
static_assert(scratch_pitch(kMaxPatchSize / 2) <= 1 << kKeySideBits);
static_assert(2 * 255 * 255 < 1 << (31 - 2 * kKeySideBits));
__device__ inline int gradient_key(const LumaGradient &gradient, int x, int y) {
  return (gradient.x * gradient.x + gradient.y * gradient.y) * kLeastKey +
         (kLeastKey - 1 - (y << kKeySideBits | x));
}
// The gradient with this key.
__device__ inline LumaGradient gradient_of_key(const BlockState &s, const RatedWindow &window, int radius,
                                               int key) {
  const int place = kLeastKey - 1 - key % kLeastKey;
  // What is not needed is computed, too, where it can be: that takes less time than a branch.
  const bool exists = key >= kLeastKey;
  LumaGradient gradient(s, exists ? window.first.x - radius + place % (1 << kKeySideBits) : 1,
                        exists ? window.first.y - radius + (place >> kKeySideBits) : 1);
  if (!exists) gradient.x = gradient.y = 0;
  return gradient;
}

// An element of RatingScratch::keys, or 0 if `counts` is false.
__device__ inline int key_at(const BlockState &s, const RatedWindow &window, int radius, bool counts,
                             int column, int row) {
  const int x = window.first.x - radius + column, y = window.first.y - radius + row;
  const bool exists = s.interior.has_in_any_row(x, y, s.area.height) && counts;
  const int key = gradient_key(LumaGradient(s, exists ? x : 1, exists ? y : 1), column, row);
  return exists ? key : 0;
}

// Computes RatingScratch::keys, but 0 for the pixels in `later`, in the coordinates of the area.
template <typename Team, typename Radius>
__device__ inline void compute_gradients(const BlockState &s, const RatedWindow &window, const Bounds &later,
                                         Radius radius, const RatingScratch &scratch) {
  // A warp has every Team::kWarps-th row, and a lane a column, or two.
  constexpr int kMostRows = divide_up(scratch_pitch(largest_radius(Radius{})), Team::kWarps);
  const int pitch = scratch_pitch(radius), warp = Team::own_thread() / 32, lane = Team::own_thread() % 32;
  for (int left = 0; left < pitch; left += 32) {
    const int column = left + lane, x = window.first.x - radius + column;
    const bool in_later = x >= later.x0 && x < later.x1;
    // All keys are computed before the first is stored, so that their loads do not wait for one another.
    int key[kMostRows];
#pragma unroll
    for (int k = 0; k < kMostRows; ++k) {
      const int row = warp + k * Team::kWarps, y = window.first.y - radius + row;
      const bool is_later = in_later && y >= later.y0 && y < later.y1;
      key[k] = key_at(s, window, radius, !is_later && column < pitch && row < pitch, column, row);
    }
#pragma unroll
    for (int k = 0; k < kMostRows; ++k)
      if (const int row = warp + k * Team::kWarps; column < pitch && row < pitch)
        scratch.keys[row * pitch + column] = key[k];
  }
}

// How values are joined.
struct Sum {
  __device__ int operator()(int a, int b) const { return a + b; }
};
struct Largest {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

// Computes `joined`, of the layout of RatingScratch::sums. value(column, row): of a pixel, as RatingScratch::keys counts; at
// least 0. join(a, b): of two values. A thread computes kColumns adjacent columns of a row, whose patches have most of
// their pixels in common.
template <typename Team, int kColumns, typename Radius, typename Value, typename Join>
__device__ inline void join_rows(Radius radius, int *joined, const Value &value, const Join &join) {
  static_assert(kColumns == 2 || kColumns == 3, "the smallest patch has three columns");
  const int columns = scratch_columns(radius), parts = divide_up(rated_side(radius), kColumns);
  for_share<Team>(radius, parts * scratch_pitch(radius), [&](int i) {
    const int row = i / parts, column = i % parts * kColumns;
    const auto value_at = [&](int k) { return value(column + k, row); };
    int common = value_at(kColumns - 1);
    [[maybe_unused]] constexpr int kUnroll = kLineUnroll<Radius>;  // read by nvcc alone
#pragma unroll kUnroll
    for (int k = kColumns; k <= 2 * radius; ++k) common = join(common, value_at(k));
    int *to = joined + row * columns + column;
    const int right = value_at(2 * radius + 1);
    if constexpr (kColumns == 2) {
      to[0] = join(common, value_at(0));
      to[1] = join(common, right);
    } else {
      const int left = value_at(1);
      to[0] = join(common, join(value_at(0), left));
      to[1] = join(common, join(left, right));
      to[2] = join(common, join(right, value_at(2 * radius + 2)));
    }
  });
}

// A pixel that list_front() has listed.
struct ListedPixel {
  int column, row;  // in the window
  int x, y;         // in the area

  __device__ ListedPixel(const FillShared &shared, const RatedWindow &window, int entry)
      : column(shared.front[entry] % 32),
        row(shared.front[entry] / 32),
        x(window.first.x + column),
        y(window.first.y + row) {}
};

// Joins the elements that join_rows() has computed in the rows of the patch around a listed pixel.
template <typename Radius, typename Join>
__device__ inline int join_columns(Radius radius, const int *joined, const ListedPixel &pixel,
                                   const Join &join) {
  const int columns = scratch_columns(radius), *rows = joined + pixel.row * columns + pixel.column;
  int value = 0;
  [[maybe_unused]] constexpr int kUnroll = kLineUnroll<Radius>;  // read by nvcc alone
#pragma unroll kUnroll
  for (int k = 0; k <= 2 * radius; ++k) value = join(value, rows[k * columns]);
  return value;
}

// Computes RatingScratch::sums.
template <typename Team, typename Radius>
__device__ inline void sum_confidences(const BlockState &s, const RatedWindow &window, Radius radius,
                                       const RatingScratch &scratch) {
  join_rows<Team, 2>(
      radius, scratch.sums,
      [&](int column, int row) {
        const int x = window.first.x - radius + column, y = window.first.y - radius + row;
        return s.holds(x, y) ? confidence_of_code(s.confidence[s.index(x, y)]) : 0;
      },
      Sum());
}

// Computes RatingScratch::longest.
template <typename Team, typename Radius>
__device__ inline void find_longest_gradients(Radius radius, const RatingScratch &scratch) {
  // The last columns of `longest` may be those of no pixel; then there may be no keys for them.
  const int pitch = scratch_pitch(radius);
  join_rows<Team, 3>(
      radius, scratch.longest,
      [&](int column, int row) { return column < pitch ? scratch.keys[row * pitch + column] : 0; },
      Largest());
}

// The confidence of the patch around a pixel of the area, whose pixels have this sum of confidences.
template <typename Radius>
__device__ inline int confidence_around(Region area, int x, int y, Radius radius, int sum) {
  const Bounds patch = window_around(area, x, y, radius);
  const int pixels = (patch.x1 - patch.x0) * (patch.y1 - patch.y0), all = (2 * radius + 1) * (2 * radius + 1);
  // A division by a constant takes a quarter of the instructions.
  return pixels == all ? confidence_of(sum, all) : confidence_of(sum, pixels);
}

// normal_at(), from BlockState::filled. Pixels beyond a border of the area are as the nearest one in it.
__device__ inline Normal normal_of_bits(const BlockState &s, int x, int y) {
  // Bits 0 to 2: the pixel to the left, the one in the middle and the one to the right.
  const auto unfilled = [&](int row) {
    unsigned bits = ~s.filled.three_from(x - 1, clamp_index(row, s.area.height));
    if (x == 0) bits = (bits & ~1u) | (bits >> 1 & 1);
    if (x == s.area.width - 1) bits = (bits & ~4u) | (bits << 1 & 4);
    return bits;
  };
  const unsigned above = unfilled(y - 1), middle = unfilled(y), below = unfilled(y + 1);
  const auto bit = [](unsigned bits, int i) { return static_cast<int>(bits >> i & 1); };
  const auto weighted = [&](unsigned bits) { return bit(bits, 0) + 2 * bit(bits, 1) + bit(bits, 2); };
  return {
      bit(above, 2) + 2 * bit(middle, 2) + bit(below, 2) - bit(above, 0) - 2 * bit(middle, 0) - bit(below, 0),
      weighted(below) - weighted(above)};
}

// What is known of a listed pixel before the source of the target is.
struct KnownRating {
  FrontPixel front;
  int longest;  // the largest gradient_key() in its patch
};

// Four threads rate a listed pixel; this is the number of pixels that a team rates at a time.
constexpr int kRatingLanes = 4;
template <typename Team>
constexpr int kRatedAtOnce = Team::kThreads / kRatingLanes;

// Of the listed pixel of this thread. RatingScratch is complete, but for the pixels whose gradients are not known.
template <typename Radius>
__device__ inline KnownRating known_rating(const BlockState &s, Radius radius, const RatingScratch &scratch,
                                           const ListedPixel &pixel) {
  const int sum = join_columns(radius, scratch.sums, pixel, Sum());
  return {front_pixel(confidence_around(s.area, pixel.x, pixel.y, radius, sum),
                      normal_of_bits(s, pixel.x, pixel.y)),
          join_columns(radius, scratch.longest, pixel, Largest())};
}
// Of the thread's first listed pixel, if it has one.
template <typename Team, typename Radius>
__device__ inline KnownRating first_known_rating(const BlockState &s, const RatedWindow &window,
                                                 Radius radius, const RatingScratch &scratch,
                                                 const FillShared &shared) {
  const int entry = Team::own_thread() / kRatingLanes;
  if (entry >= shared.front_count) return {};
  return known_rating(s, radius, scratch, ListedPixel(shared, window, entry));
}

// The largest element of RatingScratch::keys in the patch around a listed pixel, in at least those of its rows that are
// among the `rows` rows from `first` on. The four threads of the pixel call it, and each looks at a quarter of them.
template <typename Radius>
__device__ inline int longest_in_rows(Radius radius, const RatingScratch &scratch, const ListedPixel &pixel,
                                      int first, int rows) {
  const int pitch = scratch_pitch(radius), lane = static_cast<int>(threadIdx.x) % kRatingLanes;
  int longest = 0;
  [[maybe_unused]] constexpr int kUnroll = kLineUnroll<Radius>;  // read by nvcc alone
#pragma unroll kUnroll
  for (int k = 0; k < divide_up(rows, kRatingLanes); ++k) {
    const int row = pixel.row + clamp_index(first + k * kRatingLanes + lane - pixel.row, 2 * radius + 1);
    const int *keys = scratch.keys + row * pitch + pixel.column;
#pragma unroll kUnroll
    for (int i = 0; i <= 2 * radius; ++i) longest = keys[i] > longest ? keys[i] : longest;
  }
  return warp_max(longest, kRatingLanes);
}

// Computes the priority of the listed pixel of this thread, or nothing if is_listed is false. Returns its target_key(), or
// 0. RatingScratch::keys is complete; those that were 0 before lie in the `rows` rows from `first` on.
template <typename Radius>
__device__ inline Key rate(const BlockState &s, const RatedWindow &window, Radius radius, bool is_listed,
                           const ListedPixel &pixel, const KnownRating &known, int first, int rows,
                           const RatingScratch &scratch) {
  const int changed = longest_in_rows(radius, scratch, pixel, first, rows),
            longest = changed > known.longest ? changed : known.longest;
  const LumaGradient isophote = gradient_of_key(s, window, radius, longest);
  const std::uint32_t priority = __float_as_uint(priority_of(known.front, isophote.x, isophote.y));
  // Priorities take the place of words of unfilled pixels, which nothing reads as words.
  if (is_listed && threadIdx.x % kRatingLanes == 0) s.words[s.index(pixel.x, pixel.y)] = priority;
  return is_listed ? target_key(priority, {s.area.x + pixel.x, s.area.y + pixel.y}) : Key{0};
}

// Computes the priorities of the listed pixels. Returns the best target_key() of those of this thread. known:
// first_known_rating(). first, rows: as for rate().
template <typename Team, typename Radius>
__device__ inline Key rate_listed(const BlockState &s, const RatedWindow &window, Radius radius,
                                  KnownRating known, int first, int rows, const RatingScratch &scratch,
                                  const FillShared &shared) {
  const int count = shared.front_count, of_warp = Team::own_thread() / 32 * 32 / kRatingLanes,
            of_thread = Team::own_thread() / kRatingLanes;
  Key best = 0;
  // Whole warps take part.
#pragma unroll 1
  for (int begin = 0; begin + of_warp < count; begin += kRatedAtOnce<Team>) {
    const bool is_listed = begin + of_thread < count;
    const ListedPixel pixel(shared, window, is_listed ? begin + of_thread : 0);
    if (begin > 0) [[unlikely]]
      known = known_rating(s, radius, scratch, pixel);
    const Key key = rate(s, window, radius, is_listed, pixel, known, first, rows, scratch);
    best = key > best ? key : best;
  }
  return best;
}

}  // namespace cudavision::inpaint
