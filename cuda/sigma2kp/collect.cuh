// SPDX-License-Identifier: LGPL-2.1-or-later
// From bits to a list: bands of tiles become stretches of it, each by the block that finishes its band, and
// the last of these keeps the strongest where there are too many.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/block_scan.cuh"
#include "cuda/common/last_block.cuh"
#include "cuda/sigma2kp/sigma2kp_rules.h"
#include "cuda/sigma2kp/tile.cuh"

namespace cudavision::sigma2kp {

// A band: a row of tiles.
struct Band {
  unsigned keypoints;  // in the tiles that are done
  unsigned tiles_done;
};

struct Progress {
  unsigned
      next_tile;  // tiles are taken in raster order, so that who waits for a band waits for running blocks
  unsigned bands_done;
  unsigned apart_done;  // blocks of the kernel that thins by distance
  unsigned found;       // keypoints before that
};

// All keypoints, in raster order.
struct AllKeypoints {
  std::uint64_t *strengths;
  std::uint32_t *places;      // x, and y in the upper half
  std::uint32_t *row_begins;  // index of the first keypoint of each row of windows and of those below: of the
                              // map's rows, and one more. Null without min_distance
};

__device__ inline std::uint32_t pack_place(int x, int y) {
  return static_cast<std::uint32_t>(y) << 16 | static_cast<std::uint32_t>(x);
}
__device__ inline Sigma2Keypoint keypoint_of(std::uint64_t strength, std::uint32_t place) {
  return {strength, static_cast<std::uint16_t>(place & 0xffff), static_cast<std::uint16_t>(place >> 16),
          kNoOrientation};
}

// --- keeping the strongest ---

constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;
constexpr int kPerThread = 8;

struct Selection {  // in shared memory
  unsigned histogram[kDigits];
  std::uint64_t prefix;  // of the weakest strength that is kept: its higher digits
  int wanted;            // of those with this prefix
  int warp_sums[kThreads / 32 + 1];
};

// The `most`-th strength of count, from the greatest on, and how many that are equal to it belong to those:
// digit by digit, from the highest. Every thread of the block calls.
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

// Lists the strongest in raster order: of those that equal the weakest of them, the first.
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
    // Both counts at once: a block has less than 2^16 threads.
    const int before =
        block_exclusive_sum<kThreads>((is_above ? 1 << 16 : 0) + (is_equal ? 1 : 0), block.warp_sums, &total);
    const int above = above_before + (before >> 16), equal = equal_before + (before & 0xffff);
    if (is_above || (is_equal && equal < ties))
      keypoints[above + min(equal, ties)] = keypoint_of(strength, __ldcg(&all.places[i]));
    above_before += total >> 16, equal_before += total & 0xffff;
  }
}

// --- bands ---

struct CollectTask {
  ImageView<const std::uint8_t> luma;
  Plan plan;
  Tile tile;
  int tiles_x, bands;
  unsigned *bits;  // words_per_row words a row of windows
  int words_per_row;
  Band *band;
  Progress *progress;
  AllKeypoints all;
  Sigma2List list;
  int max_keypoints;
  bool publish;  // nothing thins the list afterwards
};

template <int kWindow>
__device__ std::uint64_t strength_at(const CollectTask &task, std::uint32_t place) {
  const int window = kWindow != 0 ? kWindow : task.plan.window;
  const int x = static_cast<int>(place & 0xffff), y = static_cast<int>(place >> 16);
  Sums sums{0, 0};
  for (int j = 0; j < window; ++j) {
    const std::uint8_t *row = task.luma.row(y + j) + x;
    for (int i = 0; i < window; ++i) add_pixel(sums, row[i]);
  }
  return strength_of<std::uint64_t>(sums.sum, sums.squares, window);
}

// How many keypoints the bands before this one have. Their blocks run, or have run: tiles are taken in order.
__device__ inline int keypoints_before(const CollectTask &task, int band, int *warp_sums) {
  int sum = 0;
  for (int b = static_cast<int>(threadIdx.x); b < band; b += kThreads) {
    const volatile Band *other = &task.band[b];
    while (other->tiles_done < static_cast<unsigned>(task.tiles_x)) {
    }
    __threadfence();
    sum += static_cast<int>(other->keypoints);
  }
  int total = 0;
  (void)block_exclusive_sum<kThreads>(sum, warp_sums, &total);
  return total;
}

// Writes where a band's keypoints are, from index `at` on; a thread takes the words [first, end) of it.
__device__ inline void list_places(const CollectTask &task, int first_y, const unsigned *bits, int first,
                                   int end, int at) {
  for (int w = first; w < end; ++w) {
    const int row = w / task.words_per_row, column = w - row * task.words_per_row;
    const int y = first_y + row;
    if (column == 0 && task.all.row_begins != nullptr) task.all.row_begins[y] = static_cast<unsigned>(at);
    for (unsigned word = __ldcg(&bits[w]); word != 0; word &= word - 1, ++at)
      task.all.places[at] = pack_place(32 * column + __ffs(static_cast<int>(word)) - 1, y);
  }
}

// Lists a band's keypoints; returns how many there are up to its end. A thread takes a stretch of its words,
// and then, because they are not spread evenly, its share of the keypoints.
template <int kWindow>
__device__ int list_band(const CollectTask &task, int band, int *warp_sums) {
  const int first_y = band * task.tile.height, rows = min(task.tile.height, task.plan.map.height - first_y);
  const int words = rows * task.words_per_row, per_thread = divide_up(words, kThreads);
  const unsigned *bits = task.bits + static_cast<std::ptrdiff_t>(first_y) * task.words_per_row;
  const int first = min(static_cast<int>(threadIdx.x) * per_thread, words);
  const int end = min(first + per_thread, words);
  int count = 0;
  for (int w = first; w < end; ++w) count += __popc(__ldcg(&bits[w]));
  const int band_begin = keypoints_before(task, band, warp_sums);
  int band_count = 0;
  const int before = block_exclusive_sum<kThreads>(count, warp_sums, &band_count);
  list_places(task, first_y, bits, first, end, band_begin + before);
  __syncthreads();
  const int band_end = band_begin + band_count;
  for (int at = band_begin + static_cast<int>(threadIdx.x); at < band_end; at += kThreads) {
    const std::uint32_t place = task.all.places[at];
    const std::uint64_t strength = strength_at<kWindow>(task, place);
    task.all.strengths[at] = strength;
    if (task.publish && at < task.max_keypoints) task.list.keypoints[at] = keypoint_of(strength, place);
  }
  return band_end;
}

// What the block does whose tile was the last of its band. What is counted is cleared for the next frame when
// all bands are listed.
template <int kWindow>
__device__ void finish_band(const CollectTask &task, int band, Selection &block, bool *is_last,
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
  if (threadIdx.x == 0) task.progress->next_tile = task.progress->bands_done = 0;
}

}  // namespace cudavision::sigma2kp
