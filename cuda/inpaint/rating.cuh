// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the priorities of the pixels of the front in a window. Functions with a parameter Team must be called by all
// threads of that team of warps: of the StateWarps, or of the whole block (FillBlock).
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/warp.cuh"
#include "cuda/inpaint/fill_shared.cuh"

namespace cudavision::inpaint {

__device__ inline RatedWindow window_at(Region area, Place first, int radius) {
  const int side = rated_side(radius), right = first.x + side, bottom = first.y + side;
  return {first,
          {first.x > 0 ? first.x : 0, first.y > 0 ? first.y : 0, right < area.width ? right : area.width,
           bottom < area.height ? bottom : area.height}};
}
// The window with all pixels whose priority may change when the patch around `target`, a pixel of the area, is filled.
// It is at least as large as for radius 4.
__device__ inline RatedWindow window_of_target(Region area, Place target, int radius) {
  return window_at(area, {target.x - 2 * radius - 1, target.y - 2 * radius - 1}, radius);
}

// Lists the pixels of the front in a window in shared->front, which must be empty.
template <typename Team, typename Radius>
__device__ inline void list_front(const BlockState &s, const RatedWindow &window, Radius radius,
                                  FillShared *shared) {
  // Each warp tests every Team::kWarps-th row of the window; each of its lanes tests one pixel of the row.
  constexpr int kMostRows = divide_up(rated_side(largest_radius(Radius{})), Team::kWarps);
  const int side = rated_side(radius), thread = Team::own_thread(), warp = thread / 32, lane = thread % 32;
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

// gradient_key() packs a gradient and its pixel into one number. The longest gradient has the largest key, and of
// equally long ones the first in row-major order. (x, y): the pixel, as RatingScratch::keys counts. The key of a pixel
// without a gradient, or with one of length 0, is less than kLeastKey.
constexpr int kKeySideBits = 6, kLeastKey = 1 << (2 * kKeySideBits);
static_assert(scratch_pitch(kMaxPatchSize / 2) <= 1 << kKeySideBits);
static_assert(2 * 255 * 255 < 1 << (31 - 2 * kKeySideBits));
__device__ inline int gradient_key(const LumaGradient &gradient, int x, int y) {
  return gradient.squared_length() * kLeastKey + (kLeastKey - 1 - (y << kKeySideBits | x));
}
// Returns the gradient whose gradient_key() is `key`.
__device__ inline LumaGradient gradient_of_key(const BlockState &s, const RatedWindow &window, int radius,
                                               int key) {
  // Without a gradient, no pixel is read: rate_listed() may be writing the word of any other one.
  if (key < kLeastKey) return {};
  const int place = kLeastKey - 1 - key % kLeastKey;
  return {s, window.first.x - radius + place % (1 << kKeySideBits),
          window.first.y - radius + (place >> kKeySideBits)};
}

// An element of RatingScratch::keys, or 0 if `counts` is false.
__device__ inline int key_at(const BlockState &s, const RatedWindow &window, int radius, bool counts,
                             int column, int row) {
  const int x = window.first.x - radius + column, y = window.first.y - radius + row;
  const bool exists = s.interior.has_in_any_row(x, y, s.area.height) && counts;
  const int key = gradient_key(LumaGradient(s, exists ? x : 1, exists ? y : 1), column, row);
  return exists ? key : 0;
}

// Computes RatingScratch::keys. Pixels in `later`, in coordinates of the area, get 0; end_gradients() computes their
// keys when the source is known.
template <typename Team, typename Radius>
__device__ inline void compute_gradients(const BlockState &s, const RatedWindow &window, const Bounds &later,
                                         Radius radius, const RatingScratch &scratch) {
  // Each warp computes every Team::kWarps-th row of keys; each of its lanes computes one or two of the row.
  constexpr int kMostRows = divide_up(scratch_pitch(largest_radius(Radius{})), Team::kWarps);
  const int pitch = scratch_pitch(radius), thread = Team::own_thread(), warp = thread / 32,
            lane = thread % 32;
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

// Calls function(column, row, exists) for a lane's share of the pixels of a patch; (0, 0) is its upper left pixel.
// kLanes adjacent lanes share a patch: each takes whole rows, and a part of each remaining row. exists: the patch has
// the pixel.
template <int kLanes, typename Radius, typename Function>
__device__ __forceinline__ void for_share_of_patch(Radius radius, const Function &function) {
  const int size = 2 * radius + 1, whole = size / kLanes * kLanes, lane = FillBlock::own_thread() % kLanes;
  [[maybe_unused]] constexpr int kUnroll = kLineUnroll<Radius>;  // read by nvcc alone
#pragma unroll kUnroll
  for (int row = 0; row < whole; row += kLanes)
#pragma unroll kUnroll
    for (int column = 0; column < size; ++column) function(column, row + lane, true);
#pragma unroll kUnroll
  for (int row = whole; row < size; ++row)
#pragma unroll kUnroll
    for (int column = 0; column < size; column += kLanes) function(column + lane, row, column + lane < size);
}

// The confidence of the patch around pixel (x, y) of the area. sum: the sum of the confidences of the patch's pixels.
template <typename Radius>
__device__ inline int confidence_around(Region area, int x, int y, Radius radius, int sum) {
  const Bounds patch = window_around(area, x, y, radius);
  const int pixels = (patch.x1 - patch.x0) * (patch.y1 - patch.y0), all = (2 * radius + 1) * (2 * radius + 1);
  // A division by a constant takes a quarter of the instructions of one by a variable.
  return pixels == all ? confidence_of(sum, all) : confidence_of(sum, pixels);
}

// As normal_at(), but reads BlockState::filled. Pixels beyond a border of the area count as the nearest one in it.
__device__ inline Normal normal_of_bits(const BlockState &s, int x, int y) {
  // Bits 0 to 2 are set if the pixel to the left, in the middle and to the right in a row is unfilled.
  const auto unfilled = [&](int row) {
    unsigned bits = ~s.filled.bits_from(x - 1, clamp_index(row, s.area.height));
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

// The sum of the confidences of a lane's share of the patch around a pixel of the area. A whole warp calls it.
template <int kLanes, typename Radius>
__device__ inline int confidences_of_share(const BlockState &s, int x, int y, Radius radius) {
  const int left = x - radius, top = y - radius;
  int sum = 0;
  const bool is_inside = left >= 0 && top >= 0 && x + radius < s.area.width && y + radius < s.area.height;
  if (__all_sync(kFullWarp, is_inside) != 0) [[likely]] {
    const ConfidenceCode *const codes = s.confidence + s.index(left, top);
    for_share_of_patch<kLanes>(radius, [&](int column, int row, bool exists) {
      const int confidence = confidence_of_code(codes[row * s.pitch + (exists ? column : 0)]);
      sum += exists ? confidence : 0;
    });
  } else {
    for_share_of_patch<kLanes>(int{radius}, [&](int column, int row, bool exists) {
      if (exists && s.holds(left + column, top + row))
        sum += confidence_of_code(s.confidence[s.index(left + column, top + row)]);
    });
  }
  return sum;
}

// How many threads compute the priority of a listed pixel together, and how many pixels a team computes at a time.
constexpr int kRatingLanes = 4;
template <typename Team>
constexpr int kRatedAtOnce = Team::kThreads / kRatingLanes;

// Computes the confidences in RatingScratch::pixels. The last warps take the first pixels, because find_normals() keeps
// the first warps busy.
template <typename Team, typename Radius>
__device__ inline void find_confidences(const BlockState &s, const RatedWindow &window, Radius radius,
                                        const RatingScratch &scratch, const FillShared &shared) {
  constexpr int kLanes = kRatingLanes;
  const int own = Team::own_thread(), count = shared.front_count,
            thread = Team::kThreads - 32 - own / 32 * 32 + own % 32;
  // Whole warps stay in the loop, for the shuffles of warp_sum().
#pragma unroll 1
  for (int entry = thread / kLanes; entry - thread % 32 / kLanes < count; entry += kRatedAtOnce<Team>) {
    const ListedPixel pixel(shared, window, entry < count ? entry : 0);
    const int sum = warp_sum(confidences_of_share<kLanes>(s, pixel.x, pixel.y, radius), kLanes);
    if (entry < count && thread % kLanes == 0)
      scratch.pixels[entry].confidence =
          static_cast<float>(confidence_around(s.area, pixel.x, pixel.y, radius, sum));
  }
}

// Computes the other members of RatingScratch::pixels: the normals and their scale.
template <typename Team>
__device__ inline void find_normals(const BlockState &s, const RatedWindow &window,
                                    const RatingScratch &scratch, const FillShared &shared) {
  const int count = shared.front_count;
#pragma unroll 1
  for (int entry = Team::own_thread(); entry < count; entry += Team::kThreads) {
    const ListedPixel pixel(shared, window, entry);
    const FrontPixel known = front_pixel(0, normal_of_bits(s, pixel.x, pixel.y));
    scratch.pixels[entry].normal = known.normal;
    scratch.pixels[entry].scale = known.scale;
  }
}

// The largest element of RatingScratch::keys in the patch around a listed pixel. A whole warp calls it.
template <typename Radius>
__device__ inline int longest_gradient(Radius radius, const RatingScratch &scratch,
                                       const ListedPixel &pixel) {
  const int pitch = scratch_pitch(radius), *const keys = scratch.keys + pixel.row * pitch + pixel.column;
  int longest = 0;
  // If a pixel does not exist, another pixel of the patch is read.
  for_share_of_patch<kRatingLanes>(radius, [&](int column, int row, bool exists) {
    const int key = keys[row * pitch + (exists ? column : 0)];
    longest = key > longest ? key : longest;
  });
  return warp_max(longest, kRatingLanes);
}

// Computes the priorities of the listed pixels from a complete RatingScratch. Returns this thread's largest
// target_key().
template <typename Team, typename Radius>
__device__ inline Key rate_listed(const BlockState &s, const RatedWindow &window, Radius radius,
                                  const RatingScratch &scratch, const FillShared &shared) {
  const int count = shared.front_count, thread = Team::own_thread();
  Key best = 0;
  // Whole warps stay in the loop, for the shuffles of longest_gradient().
#pragma unroll 1
  for (int own = thread / kRatingLanes; own - thread % 32 / kRatingLanes < count; own += kRatedAtOnce<Team>) {
    const bool is_listed = own < count;
    const int entry = is_listed ? own : 0;
    const ListedPixel pixel(shared, window, entry);
    const LumaGradient isophote =
        gradient_of_key(s, window, radius, longest_gradient(radius, scratch, pixel));
    const std::uint32_t priority =
        __float_as_uint(priority_of(scratch.pixels[entry], isophote.x, isophote.y));
    // The priority is stored as the word of the pixel, which is unfilled and has no feature yet.
    if (is_listed && thread % kRatingLanes == 0) s.words[s.index(pixel.x, pixel.y)] = priority;
    const Key key = is_listed ? target_key(priority, {s.area.x + pixel.x, s.area.y + pixel.y}) : Key{0};
    best = key > best ? key : best;
  }
  return best;
}

}  // namespace cudavision::inpaint
