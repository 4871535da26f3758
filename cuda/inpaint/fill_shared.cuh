// SPDX-License-Identifier: LGPL-2.1-or-later
// The shared memory of a block of the fill kernel.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/resident_blocks.h"
#include "cuda/common/warps_of_block.cuh"
#include "cuda/inpaint/fill_task.cuh"

namespace cudavision::inpaint {

constexpr int kFillThreads = 640, kFillWarps = kFillThreads / 32;

// The first warps of a block search; the last ones keep the state.
constexpr int kSearchWarps = 12;
using SearchWarps = WarpsOfBlock<0, kSearchWarps, 1>;
using StateWarps = WarpsOfBlock<kSearchWarps, kFillWarps - kSearchWarps, 2>;
using FillBlock = AllWarpsOfBlock<kFillWarps>;
// After the search, its warps help the others: these two parts have a task each. There is a thread for two columns of a
// row of the window, if patches have the default size.
constexpr int kSummingWarps = 9;
using SummingWarps = WarpsOfBlock<0, kSummingWarps, 4>;
using ComparingWarps = WarpsOfBlock<kSummingWarps, kSearchWarps - kSummingWarps, 5>;

// Kernels and functions take the radius of a patch as a Radius: an int, or a FixedRadius, with which the compiler unrolls the
// loops over a patch. kPatchUnroll: in how many steps of two rows at a time. kLineUnroll: over the pixels of a row or
// a column.
template <int kRadius>
struct FixedRadius {
  CUDAVISION_HOST_DEVICE constexpr operator int() const { return kRadius; }
};
CUDAVISION_HOST_DEVICE constexpr int largest_radius(int) { return kMaxPatchSize / 2; }
template <int kRadius>
CUDAVISION_HOST_DEVICE constexpr int largest_radius(FixedRadius<kRadius>) {
  return kRadius;
}
template <typename Radius>
constexpr int kPatchUnroll = 4;
template <int kRadius>
constexpr int kPatchUnroll<FixedRadius<kRadius>> = kRadius + 1;
template <typename Radius>
constexpr int kLineUnroll = kSpillsSooner ? 3 : 1;
template <int kRadius>
constexpr int kLineUnroll<FixedRadius<kRadius>> = 2 * kRadius + 1;

// Calls function(i) for this thread's share of the numbers from 0 to count - 1. Where the compiler knows the count, it
// makes no loop of it, and does the steps side by side.
template <typename Team, typename Radius, typename Function>
__device__ __forceinline__ void for_share(Radius, int count, const Function &function) {
  [[maybe_unused]] constexpr int kUnroll = kLineUnroll<Radius>;  // read by nvcc alone
#pragma unroll kUnroll
  for (int k = 0; k < divide_up(count, Team::kThreads); ++k)
    if (const int i = k * Team::kThreads + Team::own_thread(); i < count) function(i);
}

// The side of the windows in which priorities are computed: those that change with one patch fit into one.
CUDAVISION_HOST_DEVICE constexpr int rated_side(int radius) { return radius <= 4 ? 19 : 4 * radius + 3; }
constexpr int kMaxRatedSide = rated_side(kMaxPatchSize / 2);
static_assert(kMaxRatedSide <= 32, "a row fits into a warp");

// FillShared::quad_counts: one word, so that one atomic operation changes both.
struct QuadCounts {
  int whole, part;

  __device__ static QuadCounts of(unsigned word) {
    return {static_cast<int>(word & 0xffff), static_cast<int>(word >> 16)};
  }
  __device__ unsigned word() const {
    return static_cast<unsigned>(whole) | static_cast<unsigned>(part) << 16;
  }
};

// The shared memory of a block that does not depend on the size of the area.
struct FillShared {
  TargetPatch target;
  // The quads of the target's patch. The first QuadCounts::whole elements are those with four filled pixels; they are
  // compared first, because they tell most. The last QuadCounts::part elements are the others. Both are in no order.
  unsigned quad_counts;
  PatchQuad quads[kMaxQuads];
  // The least sum of a candidate that the block has found, and the best source_key() that each warp has found.
  int least_sum;
  Key found[kSearchWarps];
  // In the first block: where a copy of *FillTask::stop arrives, and whether one has said that the fill shall stop.
  uint4 stop;
  bool stops;
  // Of GridMinimum::collect().
  Key least;
  // The shifts of the last kSearchWarps patches, in no order.
  Shift recent[kSearchWarps];
  // The best target_key() that each of the StateWarps and of the ComparingWarps has found; 0 for the other warps.
  Key best[kFillWarps];
  // The pixels of the front in a window whose priorities have to be computed: row * 32 + column.
  int front_count;
  std::uint16_t front[kMaxRatedSide * 32];
};

// Shared memory of a block, for the priorities in a window: see RatedWindow.
struct RatingScratch {
  // The gradient_key() of each pixel of the window, and of `radius` pixels around it, in rows of `pitch` elements. Pixels
  // outside of the area have 0, as if they had no gradient.
  int pitch;
  int *keys;
  // For each of these rows and each column of the window: the sum of the confidences, and the largest gradient_key(), in
  // the row of the patch around that column, in rows of scratch_columns(radius) elements. See join_rows().
  int *sums, *longest;
};
CUDAVISION_HOST_DEVICE constexpr int scratch_pitch(int radius) { return rated_side(radius) + 2 * radius; }
CUDAVISION_HOST_DEVICE constexpr int scratch_columns(int radius) {
  return divide_up(rated_side(radius), 3) * 3;
}
// A multiple of 16.
CUDAVISION_HOST_DEVICE constexpr std::size_t scratch_bytes(int radius) {
  const int pitch = scratch_pitch(radius);
  return static_cast<std::size_t>(pitch * (pitch + 2 * scratch_columns(radius)) + 3) / 4 * 16;
}
__device__ inline RatingScratch scratch_in(unsigned char *memory, int radius) {
  const int pitch = scratch_pitch(radius), elements = pitch * scratch_columns(radius);
  auto *sums = reinterpret_cast<int *>(memory), *longest = sums + elements;
  return {pitch, longest + elements, sums, longest};
}

constexpr std::size_t kFillSharedBytes = (sizeof(FillShared) + 15) / 16 * 16;

}  // namespace cudavision::inpaint
