// SPDX-License-Identifier: LGPL-2.1-or-later
// The warps of a block of the fill kernel, and how they share work.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/image.h"
#include "cuda/common/warps_of_block.cuh"
#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

constexpr int kFillThreads = 640, kFillWarps = kFillThreads / 32;

// The first warps of a block search for the source; the last ones keep the state of the fill up to date.
constexpr int kSearchWarps = 12;
using SearchWarps = WarpsOfBlock<0, kSearchWarps, 1>;
using StateWarps = WarpsOfBlock<kSearchWarps, kFillWarps - kSearchWarps, 2>;
using FillBlock = WarpsOfBlock<0, kFillWarps, 3>;  // all warps of a block
// After the search, the first warp waits for the other blocks, while the other SearchWarps compare targets.
using FirstWarp = WarpsOfBlock<0, 1, 4>;
using ComparingWarps = WarpsOfBlock<1, kSearchWarps - 1, 5>;

// Two functions that run at the same time: `state` in the StateWarps, and `others` in other warps (run_phases()).
template <typename State, typename Others>
struct Phase {
  State state;
  Others others;
};
template <typename State, typename Others>
Phase(State, Others) -> Phase<State, Others>;

// Calls the functions in order. Between two of them, the warps of Team wait for one another.
template <typename Team, typename First, typename... Functions>
__device__ __forceinline__ void run_in_turn(const First &first, const Functions &...functions) {
  first();
  ((Team::synchronize(), functions()), ...);
}

// Runs all phases between two barriers of the block. In each phase, the StateWarps call Phase::state, the warps of
// Others call Phase::others, and the first warp, if it is not one of Others, only waits. Between two phases, each of
// the three teams waits at a barrier of its own. Only the StateWarps need it everywhere, but all teams wait equally
// often: otherwise, racecheck of compute-sanitizer 2025.3 reports hazards on the two sides of a barrier of the block.
template <typename Others, typename... Phases>
__device__ __forceinline__ void run_phases(const Phases &...phases) {
  if (StateWarps::hold_this_thread())
    run_in_turn<StateWarps>(phases.state...);
  else if (Others::hold_this_thread())
    run_in_turn<Others>(phases.others...);
  else
    run_in_turn<FirstWarp>([&phases] { (void)phases; }...);
}

// Kernels and functions take the radius of a patch as a Radius: an int, or a FixedRadius, with which the compiler
// unrolls the loops over a patch. The unroll factors are kPatchUnroll for loops that process two rows of a patch per
// step, and kLineUnroll for for_share() and for loops over the rows or the columns of a patch.
template <int kRadius>
struct FixedRadius {
  CUDAVISION_HOST_DEVICE constexpr operator int() const { return kRadius; }
};
CUDAVISION_HOST_DEVICE constexpr int largest_radius(int) { return kMaxPatchSize / 2; }
template <int kRadius>
CUDAVISION_HOST_DEVICE constexpr int largest_radius(FixedRadius<kRadius>) {
  return kRadius;
}
// Returns the radius. An int is hidden from the compiler, so that values that depend on it are computed again for each
// patch, rather than kept in registers.
__device__ inline int again(int radius) { return hidden(radius); }
template <int kRadius>
__device__ constexpr FixedRadius<kRadius> again(FixedRadius<kRadius> radius) {
  return radius;
}
template <typename Radius>
constexpr int kPatchUnroll = 4;
template <int kRadius>
constexpr int kPatchUnroll<FixedRadius<kRadius>> = kRadius + 1;
template <typename Radius>
constexpr int kLineUnroll = 1;
template <int kRadius>
constexpr int kLineUnroll<FixedRadius<kRadius>> = 2 * kRadius + 1;

// Calls function(i) for this thread's share of the numbers from 0 to count - 1. If the compiler knows the count, it
// unrolls the loop and runs its steps side by side.
template <typename Team, typename Radius, typename Function>
__device__ __forceinline__ void for_share(Radius, int count, const Function &function) {
  [[maybe_unused]] constexpr int kUnroll = kLineUnroll<Radius>;  // read by nvcc alone
#pragma unroll kUnroll
  for (int k = 0; k < divide_up(count, Team::kThreads); ++k)
    if (const int i = k * Team::kThreads + Team::own_thread(); i < count) function(i);
}

}  // namespace cudavision::inpaint
