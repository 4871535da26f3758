// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the list of keypoints from the bits of the tiles. A band is a row of tiles. The last block to finish
// a tile of a band lists the keypoints of that band; the last block to list a band selects the strongest
// keypoints if there are too many.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/acquire_release.cuh"
#include "cuda/common/block_scan.cuh"
#include "cuda/common/last_block.cuh"
#include "cuda/sigma2kp/sigma2kp_rules.h"
#include "cuda/sigma2kp/tile.cuh"

namespace cudavision::sigma2kp {

struct Band {
  unsigned keypoints;  // the number of keypoints in the tiles that are done
  unsigned tiles_done;
};

// All members in which a frame counts are 0 when the frame begins.
struct Progress {
  unsigned next_tile;  // see claim_tile()
  unsigned bands_done;
  // The number of blocks of keep_apart_kernel that have finished.
  unsigned min_distance_done;
  // The number of keypoints before min_distance is applied.
  unsigned found;
};

// All keypoints in row-major order, as a structure of arrays.
struct AllKeypoints {
  std::uint64_t *strengths;
  std::uint32_t *places;  // pack_place()
  // For each row of windows: the index of its first keypoint, or of the next keypoint if the row has none. One more
  // element than there are rows. Null without min_distance.
  std::uint32_t *row_begins;
};

// The position of a window in one word: x in the lower half, y in the upper half.
__device__ inline std::uint32_t pack_place(int x, int y) {
  return static_cast<std::uint32_t>(y) << 16 | static_cast<std::uint32_t>(x);
}
__device__ inline Sigma2Keypoint keypoint_of(std::uint64_t strength, std::uint32_t place) {
  return {strength, static_cast<std::uint16_t>(place & 0xffff), static_cast<std::uint16_t>(place >> 16),
          kNoOrientation};
}

// --- max_keypoints ---

constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;
constexpr int kPerThread = 8;

// The state of the radix selection, in shared memory.
struct Selection {
  unsigned histogram[kDigits];
  std::uint64_t prefix;  // the higher digits of the weakest strength that is kept
  int wanted;            // the number of keypoints to keep among those with this prefix
  int warp_sums[kThreads / 32];
};

// Radix selection from the highest digit on: sets block.prefix to the `most`-th greatest of `count`
// strengths, and block.wanted to the number of keypoints with this strength that are among the `most`
// strongest. wide: strengths may exceed 32 bits. All threads of the block must call.
__device__ inline void select_strength(Selection &block, const std::uint64_t *strengths, int count, int most,
                                       bool wide) {
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) block.prefix = 0, block.wanted = most;
  for (int shift = wide ? 32 : 24; shift >= 0; shift -= kDigitBits) {
    for (int i = thread; i < kDigits; i += kThreads) block.histogram[i] = 0;
    __syncthreads();
    const std::uint64_t prefix = block.prefix;
    for (int base = 0; base < count; base += kThreads * kPerThread) {
      std::uint64_t strength[kPerThread];
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) {
        const int at = base + i * kThreads + thread;
        strength[i] = at < count ? __ldcg(&strengths[at]) : ~std::uint64_t{0};
      }
#pragma unroll
      for (int i = 0; i < kPerThread; ++i)
        if (strength[i] >> shift >> kDigitBits == prefix)
          atomicAdd(&block.histogram[strength[i] >> shift & (kDigits - 1)], 1u);
    }
    __syncthreads();
    if (thread == 0) {
      int digit = kDigits - 1, wanted = block.wanted;
      while (wanted > static_cast<int>(block.histogram[digit]))
        wanted -= static_cast<int>(block.histogram[digit--]);
      block.wanted = wanted;
      block.prefix = prefix << kDigitBits | static_cast<unsigned>(digit);
    }
    __syncthreads();
  }
}

// Writes the `most` strongest of `count` keypoints in row-major order. Of the keypoints with the weakest
// listed strength the first ones are taken. All threads of the block must call.
__device__ inline void list_strongest(Selection &block, const AllKeypoints &all, int count, int most,
                                      bool wide, Sigma2Keypoint *keypoints) {
  select_strength(block, all.strengths, count, most, wide);
  const std::uint64_t weakest = block.prefix;
  const int ties = block.wanted, thread = static_cast<int>(threadIdx.x);
  int above_before = 0, equal_before = 0;
  for (int base = 0; base < count; base += kThreads) {
    const int i = base + thread;
    const std::uint64_t strength = i < count ? __ldcg(&all.strengths[i]) : 0;
    const bool is_above = i < count && strength > weakest, is_equal = i < count && strength == weakest;
    int total = 0;
    // One prefix sum for both counts, which are at most kThreads < 2^16.
    const int before =
        block_exclusive_sum<kThreads>((is_above ? 1 << 16 : 0) + (is_equal ? 1 : 0), block.warp_sums, &total);
    const int above = above_before + (before >> 16), equal = equal_before + (before & 0xffff);
    if (is_above || (is_equal && equal < ties))
      keypoints[above + min(equal, ties)] = keypoint_of(strength, __ldcg(&all.places[i]));
    above_before += total >> 16, equal_before += total & 0xffff;
  }
}

// --- bands ---

struct FindTask {
  ImageView<const std::uint8_t> luma;
  DetectorPlan plan;
  TileLayout tile;
  int tiles_x, bands;
  unsigned *bits;  // one bit per window, set at keypoints; words_per_row words per row, in row-major order
  int words_per_row;
  Band *band;
  Progress *progress;
  AllKeypoints all;
  Sigma2KpList list;
  int max_keypoints;
  bool publish;  // whether to write the final list: there is no min_distance
  Input input;
  Places places;
};

// Returns the index of the tile of the calling block. Blocks claim tiles in row-major order as they start, so that a
// block that waits for a preceding band waits for blocks that are already running. The counter wraps around to 0 for
// the next frame, whose blocks start when all blocks of this frame have claimed their tiles.
__device__ inline int claim_tile(const FindTask &task) {
  const auto tiles = static_cast<unsigned>(task.tiles_x * task.bands);
  return static_cast<int>(atomicInc(&task.progress->next_tile, tiles - 1));
}

template <int kWindow>
__device__ std::uint64_t compute_strength(const FindTask &task, std::uint32_t place) {
  const int window = kWindow != 0 ? kWindow : task.plan.window;
  const int x = static_cast<int>(place & 0xffff), y = static_cast<int>(place >> 16);
  Sums sums{0, 0};
  for (int j = 0; j < window; ++j) {
    const std::uint8_t *row = task.luma.row(y + j) + x;
    for (int i = 0; i < window; ++i) add_pixel(sums, row[i]);
  }
  return strength_of<std::uint64_t>(sums.sum, sums.squares, window);
}

// The number of keypoints in the preceding bands. Spin-waits until these bands are finished, as in decoupled
// look-back; this is safe because tiles are claimed in order. All threads of the block must call.
__device__ inline int keypoints_before(const FindTask &task, int band, int *warp_sums) {
  int sum = 0;
  for (int b = static_cast<int>(threadIdx.x); b < band; b += kThreads) {
    const Band &other = task.band[b];
    while (arrivals_at(&other.tiles_done) < static_cast<unsigned>(task.tiles_x)) {
    }
    sum += static_cast<int>(__ldcg(&other.keypoints));
  }
  int total = 0;
  (void)block_exclusive_sum<kThreads>(sum, warp_sums, &total);
  return total;
}

// Calls use() with the words [first, end), one after the other. Several words are loaded before the first one is used.
template <typename Use>
__device__ void for_words(const unsigned *bits, int first, int end, const Use &use) {
  constexpr int kAhead = 8;
  for (int begin = first; begin < end; begin += kAhead) {
    unsigned words[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) words[k] = begin + k < end ? __ldcg(&bits[begin + k]) : 0;
#pragma unroll
    for (int k = 0; k < kAhead; ++k)
      if (begin + k < end) use(words[k]);
  }
}

// Writes the places of the keypoints in the words [first, end) of a band to the list, from index `at` on.
// first_y: the first row of the band.
__device__ inline void list_places(const FindTask &task, int first_y, const unsigned *bits, int first,
                                   int end, int at) {
  int row = first / task.words_per_row, column = first - row * task.words_per_row;
  for_words(bits, first, end, [&](unsigned word) {
    const int y = first_y + row;
    if (column == 0 && task.all.row_begins != nullptr) task.all.row_begins[y] = static_cast<unsigned>(at);
    for (; word != 0; word &= word - 1, ++at)
      task.all.places[at] = pack_place(32 * column + __ffs(static_cast<int>(word)) - 1, y);
    if (++column == task.words_per_row) column = 0, ++row;
  });
}

// Lists the keypoints of a band. Returns the number of keypoints in this band and all bands before it. Each thread
// lists the places in a range of words. The strengths are then distributed evenly over the threads, because the
// keypoints are unevenly distributed over the words.
template <int kWindow>
__device__ int list_band(const FindTask &task, int band, int *warp_sums) {
  const int first_y = band * task.tile.height, rows = min(task.tile.height, task.plan.map.height - first_y);
  const int words = rows * task.words_per_row, per_thread = divide_up(words, kThreads);
  const unsigned *bits = task.bits + static_cast<std::ptrdiff_t>(first_y) * task.words_per_row;
  const int first = min(static_cast<int>(threadIdx.x) * per_thread, words);
  const int end = min(first + per_thread, words);
  int count = 0;
  for_words(bits, first, end, [&count](unsigned word) { count += __popc(word); });
  const int band_begin = keypoints_before(task, band, warp_sums);
  int band_count = 0;
  const int before = block_exclusive_sum<kThreads>(count, warp_sums, &band_count);
  list_places(task, first_y, bits, first, end, band_begin + before);
  __syncthreads();
  const int band_end = band_begin + band_count;
  for (int at = band_begin + static_cast<int>(threadIdx.x); at < band_end; at += kThreads) {
    const std::uint32_t place = task.all.places[at];
    const std::uint64_t strength = compute_strength<kWindow>(task, place);
    task.all.strengths[at] = strength;
    if (task.publish && at < task.max_keypoints) task.list.keypoints[at] = keypoint_of(strength, place);
  }
  return band_end;
}

// Called by the block that finished the last tile of a band. The last block to list a band also writes the final list
// (see FindTask::publish), and clears the bands for the frame after the next one and bands_done for the next one.
template <int kWindow>
__device__ void finish_band(const FindTask &task, int band, Selection &block, bool *is_last,
                            unsigned *found) {
  const int up_to_here = list_band<kWindow>(task, band, block.warp_sums);
  if (band == task.bands - 1 && threadIdx.x == 0) {
    task.progress->found = static_cast<unsigned>(up_to_here);
    if (task.all.row_begins != nullptr)
      task.all.row_begins[task.plan.map.height] = static_cast<unsigned>(up_to_here);
  }
  if (!is_last_block(&task.progress->bands_done, static_cast<unsigned>(task.bands), is_last)) return;
  if (threadIdx.x == 0) *found = __ldcg(&task.progress->found);
  __syncthreads();
  const int count = static_cast<int>(*found);
  if (task.publish) {
    if (count > task.max_keypoints)
      list_strongest(block, task.all, count, task.max_keypoints, task.plan.is_wide(), task.list.keypoints);
    if (threadIdx.x == 0) *task.list.count = {min(count, task.max_keypoints), count};
  }
  for (int b = static_cast<int>(threadIdx.x); b < task.bands; b += kThreads) task.band[b] = {0, 0};
  if (threadIdx.x == 0) task.progress->bands_done = 0;
}

}  // namespace cudavision::sigma2kp
