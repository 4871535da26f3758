// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds the runs of a line (walk_rules.h) with one warp: each lane searches 32 steps for the beginnings of runs, and
// then each lane takes one of the runs found.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/backends.h"
#include "cuda/common/warp.cuh"
#include "cuda/hough/walk_rules.h"

namespace cudavision::hough {

// The scratch memory of a warp, in shared memory.
struct LineRuns {
  // Bit i of word w is set if step 32 w + i is present. A word of zeros follows the last one.
  unsigned present[kMaxSide / 32 + 1];
  // For the runs that begin in 32 words: the first step of each run, and the last step of the run before it.
  std::uint16_t begin[32 * 16];
  std::int16_t last_before[32 * 16];
};

// next_step() returns the first step from `step` on whose bit is kValue, previous_step() the last such step up to
// `step`. There must be one.
template <bool kValue>
__device__ int next_step(const unsigned *present, int step) {
  int w = step / 32;
  unsigned bits = (kValue ? present[w] : ~present[w]) & ~0u << step % 32;
  while (bits == 0) ++w, bits = kValue ? present[w] : ~present[w];
  return 32 * w + __ffs(static_cast<int>(bits)) - 1;
}
template <bool kValue>
__device__ int previous_step(const unsigned *present, int step) {
  int w = step / 32;
  unsigned bits = (kValue ? present[w] : ~present[w]) & ~0u >> (31 - step % 32);
  while (bits == 0) --w, bits = kValue ? present[w] : ~present[w];
  return 32 * w + 31 - __clz(static_cast<int>(bits));
}

// Cuts off the first and the last piece of a run if they have fewer steps than the gap next to them (walk_rules.h).
__device__ inline void cut_short_ends(const unsigned *present, int *first, int *last) {
  const int first_end = next_step<false>(present, *first) - 1;
  if (first_end == *last) return;  // the run has only one piece
  const int second_begin = next_step<true>(present, first_end + 1);
  const int last_begin = previous_step<false>(present, *last) + 1;
  const int before_last = previous_step<true>(present, last_begin - 1);
  if (first_end - *first + 1 < second_begin - first_end - 1) {
    *first = second_begin;
    if (second_begin == last_begin) return;  // one piece is left
  }
  if (*last - last_begin + 1 < last_begin - before_last - 1) *last = before_last;
}

// Calls visit(begin, previous) for each piece in the word that begins a run, because it follows more than max_gap
// missing steps. begin: the first step of the piece. previous: the last present step before the piece, or -1.
// first_step: the step of bit 0 of the word. before: the last present step before the word, or -1.
template <typename Visit>
__device__ void for_each_begin(unsigned word, int first_step, int before, int max_gap, const Visit &visit) {
  while (word != 0) {
    const int begin = __ffs(static_cast<int>(word)) - 1, length = trailing_zeros(~(word >> begin));
    if (before < 0 || first_step + begin - before - 1 > max_gap) visit(first_step + begin, before);
    before = first_step + begin + length - 1;
    word = begin + length >= 32 ? 0 : word >> (begin + length) << (begin + length);
  }
}

// The greatest of `least` and the values in the lanes before the calling one.
__device__ inline int max_of_lanes_before(int value, int lane, int least) {
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(kFullWarp, value, static_cast<unsigned>(step));
    if (lane >= step) value = max(value, other);
  }
  const int before = __shfl_up_sync(kFullWarp, value, 1);
  return lane == 0 ? least : max(before, least);
}

// Calls use(has_run, first, last) in all lanes together, as often as needed to give each run of the line to one lane.
// has_run is false in lanes without a run. runs.present must be complete. All lanes of the warp must call.
template <typename Use>
__device__ void for_each_run(LineRuns &runs, int steps, int max_gap, int lane, const Use &use) {
  int open_begin = -1, last_present = -1;  // the ends of the last run so far
  const auto use_run = [&](bool has_run, int first, int last) {
    if (has_run) cut_short_ends(runs.present, &first, &last);
    use(has_run, first, last);
  };
  for (int base = 0; base < steps; base += 32 * 32) {
    const int first_step = base + 32 * lane;
    const unsigned word = first_step < steps ? runs.present[first_step / 32] : 0;
    const int own_last = word == 0 ? -1 : first_step + 31 - __clz(static_cast<int>(word));
    const int before = max_of_lanes_before(own_last, lane, last_present);
    int begins = 0;
    for_each_begin(word, first_step, before, max_gap, [&](int, int) { ++begins; });
    const int through = warp_inclusive_sum(begins, lane), total = __shfl_sync(kFullWarp, through, 31);
    int at = through - begins;
    for_each_begin(word, first_step, before, max_gap, [&](int begin, int previous) {
      runs.begin[at] = static_cast<std::uint16_t>(begin);
      runs.last_before[at++] = static_cast<std::int16_t>(previous);
    });
    __syncwarp();
    // Each beginning ends the run before it: the lane that takes a beginning uses that run.
    for (int first = 0; first < total; first += 32) {
      const int i = first + lane;
      const int begin = i >= total ? -1 : i == 0 ? open_begin : runs.begin[i - 1];
      use_run(begin >= 0, begin, begin >= 0 ? runs.last_before[i] : 0);
    }
    if (total > 0) open_begin = runs.begin[total - 1];
    last_present = __shfl_sync(kFullWarp, max(own_last, before), 31);
    __syncwarp();  // before the next words overwrite runs.begin, and the next line runs.present
  }
  // The last run of the line. Lane 0 takes it, because lane 0 overwrites runs.present for the next line.
  use_run(lane == 0 && open_begin >= 0, open_begin, last_present);
}

}  // namespace cudavision::hough
