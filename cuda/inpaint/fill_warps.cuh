// SPDX-License-Identifier: LGPL-2.1-or-later
// The warps of a block of the fill kernel, and how they share work.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/image.h"
#include "cuda/common/warps_of_block.cuh"
#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

constexpr int kFillThreads = 640, kFillWarps = kFillThreads / 32;

// The first warps of a block search; the last ones keep the state.
constexpr int kSearchWarps = 12;
using SearchWarps = WarpsOfBlock<0, kSearchWarps, 1>;
using StateWarps = WarpsOfBlock<kSearchWarps, kFillWarps - kSearchWarps, 2>;
using FillBlock = WarpsOfBlock<0, kFillWarps, 3>;  // for the numbers of its threads
// After the search, its first warp waits for the other blocks, while the others compare targets.
using FirstWarp = WarpsOfBlock<0, 1, 4>;
using ComparingWarps = WarpsOfBlock<1, kSearchWarps - 1, 5>;

// What the StateWarps and other warps do side by side, before the same barriers.
template <typename State, typename Others>
struct Phase {
  State state;
  Others others;
};
template <typename State, typename Others>
Phase(State, Others) -> Phase<State, Others>;

// Between two functions, the warps of Team wait for one another.
template <typename Team, typename First, typename... Functions>
__device__ __forceinline__ void run_in_turn(const First &first, const Functions &...functions) {
  first();
  ((Team::synchronize(), functions()), ...);
}

// Runs the phases between two barriers of the block: one list of them, for the StateWarps, for Others and for the rest.
// So all warps meet equally often among themselves, although only the StateWarps need it everywhere: otherwise,
// racecheck of compute-sanitizer 2025.3 reports hazards on the two sides of a barrier of the block.
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
// unrolls the loops over a patch. kPatchUnroll: in how many steps of two rows at a time. kLineUnroll: over the pixels
// of a row or a column.
template <int kRadius>
struct FixedRadius {
  CUDAVISION_HOST_DEVICE constexpr operator int() const { return kRadius; }
};
CUDAVISION_HOST_DEVICE constexpr int largest_radius(int) { return kMaxPatchSize / 2; }
template <int kRadius>
CUDAVISION_HOST_DEVICE constexpr int largest_radius(FixedRadius<kRadius>) {
  return kRadius;
}
// The same radius. What depends on it is computed again, rather than kept in registers from one patch to the next.
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

// Calls function(i) for this thread's share of the numbers from 0 to count - 1. Where the compiler knows the count, it
// makes no loop of it, and does the steps side by side.
template <typename Team, typename Radius, typename Function>
__device__ __forceinline__ void for_share(Radius, int count, const Function &function) {
  [[maybe_unused]] constexpr int kUnroll = kLineUnroll<Radius>;  // read by nvcc alone
#pragma unroll kUnroll
  for (int k = 0; k < divide_up(count, Team::kThreads); ++k)
    if (const int i = k * Team::kThreads + Team::own_thread(); i < count) function(i);
}

}  // namespace cudavision::inpaint
