// SPDX-License-Identifier: LGPL-2.1-or-later
// Hits and boxes on the device. In find_hits_kernel, each thread block computes the scores of consecutive windows; the
// last block to finish (last_block.cuh) lists the hits in the order of the windows, which does not depend on the order
// of the blocks. Then in group_hits_kernel, all blocks unite similar hits, and the last one lists the boxes of the
// groups; or suppress_hits_kernel finds the best hits (non-maximum suppression) with a single block.
#pragma once

#include "cuda/common/block_scan.cuh"
#include "cuda/common/last_block.cuh"
#include "cuda/common/static_shared.cuh"
#include "cuda/common/union_find.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/hog/scores.cuh"

namespace cudavision::hog {

// Sums over the hits of a group.
struct GroupSums {
  int count, first;         // the number of hits, and the index of the first one
  int x, y, width, height;  // sums
  unsigned score;           // ordered_key() of the best score
};

struct HitTask {
  const DeviceLevel *levels;
  int level_count;
  ScoreRules rules;
  HogThresholds thresholds;
  Size picture;
  Search search;
  float *scores;      // [window]; NaN, which reaches no threshold, for windows that are not searched
  int *block_hits;    // [thread block]: its number of hits, later the number in all blocks before it
  unsigned *done;     // the number of blocks that have finished; 0 between kernels
  int *hit_count;     // the number of all hits, even if it exceeds kMaxHogHits
  HogBox *hits;       // [kMaxHogHits]
  unsigned *parents;  // [kMaxHogHits]: the union-find forest of similar hits
  GroupSums *groups;  // [kMaxHogHits]: the group of each root of the forest
  HogBoxList list;
};

// Maps floats to integers in the same order, for atomicMax().
__device__ inline unsigned ordered_key(float value) {
  const unsigned bits = __float_as_uint(value);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
__device__ inline float value_of_key(unsigned key) {
  return __uint_as_float((key & 0x80000000u) != 0 ? key & 0x7fffffffu : ~key);
}

// Shared memory of find_hits_kernel.
struct HitMemory {
  struct {
    int left, top, right, bottom;
  } searched[Places::kMostRegions];  // for each region, the windows of the scale to search
  int warp_sums[kLineThreads / 32];
  int hit_count;
  bool last;
};

// Shared memory of group_hits_kernel.
struct GroupMemory {
  unsigned short kept[kMaxHogHits];     // the roots of the groups with enough hits
  unsigned char left_out[kMaxHogHits];  // whether the box of a kept group is left out
  int kept_count, listed;
  bool last;
};

// Shared memory of suppress_hits_kernel.
struct BestMemory {
  unsigned long long best;  // the greatest key_of_hit() of the hits that are left, 0 if none is
  int overlapping, listed;
};

// Replaces block_hits by its exclusive prefix sum.
__device__ inline void scan_block_hits(const HitTask &task, HitMemory *shared) {
  const int blocks = static_cast<int>(gridDim.x), thread = static_cast<int>(threadIdx.x);
  const int share = divide_up(blocks, kLineThreads), first = min(thread * share, blocks),
            end = min(first + share, blocks);
  int sum = 0, total = 0;
  for (int b = first; b < end; ++b) sum += __ldcg(task.block_hits + b);
  int before = block_exclusive_sum<kLineThreads>(sum, shared->warp_sums, &total);
  for (int b = first; b < end; ++b) {
    const int hits = __ldcg(task.block_hits + b);
    task.block_hits[b] = before;
    before += hits;
  }
  if (thread == 0) shared->hit_count = total;
  __syncthreads();
}

// Appends the boxes of the hits of a thread block to task.hits, from index `at` on. Called by a whole warp.
__device__ inline void list_hits_of_block(const HitTask &task, int block, int at, int lane) {
  const DeviceLevel &level =
      level_of_block(task.levels, task.level_count, block, &DeviceLevel::first_score_block);
  constexpr int kTurns = kLineThreads / 32;
  const int first = (block - level.first_score_block) * kLineThreads + lane;
  float scores[kTurns];  // all loads are issued before the first result is used
#pragma unroll
  for (int i = 0; i < kTurns; ++i)
    scores[i] = __ldcg(task.scores + level.windows + min(first + 32 * i, level.window_count - 1));
#pragma unroll
  for (int i = 0; i < kTurns; ++i) {
    const int window = first + 32 * i;
    const bool hit = window < level.window_count && scores[i] >= task.thresholds.hit;
    const unsigned hits = __ballot_sync(kFullWarp, hit);
    const int place = at + __popc(hits & ((1u << lane) - 1));
    const int row = window / level.windows_x;
    if (hit && place < kMaxHogHits)
      task.hits[place] = box_of_window(level.scale, task.search.window, task.search.win_stride,
                                       window - row * level.windows_x, row, scores[i]);
    at += __popc(hits);
  }
}

// Lists the hits of all thread blocks. Each warp looks at 32 blocks at a time, few of which have hits. Neighbouring
// blocks, which often both have hits, are handled by different warps.
__device__ inline void list_hits(const HitTask &task, const HitMemory &shared) {
  constexpr int kWarps = kLineThreads / 32;
  const int blocks = static_cast<int>(gridDim.x), lane = static_cast<int>(threadIdx.x) % 32,
            warp = static_cast<int>(threadIdx.x) / 32;
  for (int first = warp; first < blocks; first += kLineThreads) {
    const int block = first + lane * kWarps;
    const int at = block < blocks ? task.block_hits[block] : shared.hit_count;
    const int end = block + 1 < blocks ? task.block_hits[block + 1] : shared.hit_count;
    for (unsigned left = __ballot_sync(kFullWarp, at < end && at < kMaxHogHits); left != 0;
         left &= left - 1) {
      const int one = __ffs(static_cast<int>(left)) - 1;
      list_hits_of_block(task, first + one * kWarps, __shfl_sync(kFullWarp, at, one), lane);
    }
  }
  __syncthreads();
}

// Prepares the next kernel: each hit gets its own group. found: the number of hits, which may exceed kMaxHogHits.
__device__ inline void begin_groups(const HitTask &task, int count, int found) {
  if (threadIdx.x == 0) *task.hit_count = found;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kLineThreads) {
    task.parents[i] = static_cast<unsigned>(i);
    task.groups[i] = {.count = 0, .first = count, .x = 0, .y = 0, .width = 0, .height = 0, .score = 0};
  }
}

// Unites similar hits into groups. A warp compares one hit at a time with all hits before it.
__device__ inline void unite_hits(const HitTask &task, int count) {
  constexpr int kWarps = kLineThreads / 32;
  const int thread = static_cast<int>(threadIdx.x), warps = static_cast<int>(gridDim.x) * kWarps;
  for (int i = static_cast<int>(blockIdx.x) * kWarps + thread / 32; i < count; i += warps) {
    const HogBox hit = task.hits[i];
    for (int j = thread % 32; j < i; j += 32)
      if (are_similar(hit, task.hits[j]))
        unite(task.parents, static_cast<unsigned>(i), static_cast<unsigned>(j));
  }
}

// Adds up the hits of each group at its root.
__device__ inline void sum_groups(const HitTask &task, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kLineThreads) {
    const HogBox hit = task.hits[i];
    GroupSums *sums = task.groups + find_root(task.parents, static_cast<unsigned>(i));
    atomicAdd(&sums->count, 1);
    atomicMin(&sums->first, i);
    atomicAdd(&sums->x, hit.x), atomicAdd(&sums->y, hit.y);
    atomicAdd(&sums->width, hit.width), atomicAdd(&sums->height, hit.height);
    atomicMax(&sums->score, ordered_key(hit.score));
  }
  __syncthreads();
}

__device__ inline HogBox box_of_group(const GroupSums &g) {
  return average({.count = g.count,
                  .x = g.x,
                  .y = g.y,
                  .width = g.width,
                  .height = g.height,
                  .score = value_of_key(g.score)});
}

// Writes the boxes of the groups with enough hits, in the order of their first hits. A box that gives_way()
// to another one is left out.
__device__ inline void list_groups(const HitTask &task, int count, GroupMemory *shared) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < count; i += kLineThreads)
    if (task.parents[i] == static_cast<unsigned>(i) && __ldcg(&task.groups[i].count) > task.thresholds.group)
      shared->kept[atomicAdd(&shared->kept_count, 1)] = static_cast<unsigned short>(i);
  __syncthreads();
  const int kept = shared->kept_count;
  for (int i = thread; i < kept; i += kLineThreads) {
    const GroupSums &group = task.groups[shared->kept[i]];
    const HogBox box = box_of_group(group);
    bool left_out = false;
    for (int j = 0; j < kept && !left_out; ++j) {
      const GroupSums &other = task.groups[shared->kept[j]];
      left_out = j != i && gives_way(box, group.count, box_of_group(other), other.count);
    }
    shared->left_out[i] = left_out ? 1 : 0;
  }
  __syncthreads();
  for (int i = thread; i < kept; i += kLineThreads) {
    if (shared->left_out[i] != 0) continue;
    const GroupSums &group = task.groups[shared->kept[i]];
    int place = 0;
    for (int j = 0; j < kept; ++j)
      place += shared->left_out[j] == 0 && task.groups[shared->kept[j]].first < group.first;
    task.list.boxes[place] = cut_box(task.thresholds.part_of_box(), task.picture, box_of_group(group));
    atomicAdd(&shared->listed, 1);
  }
  __syncthreads();
}

// Writes the boxes of all hits, without grouping. found: see begin_groups().
__device__ inline void list_all_hits(const HitTask &task, int count, int found) {
  if (threadIdx.x == 0) *task.list.count = {count, found};
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kLineThreads)
    task.list.boxes[i] = cut_box(task.thresholds.part_of_box(), task.picture, task.hits[i]);
}

// Whether a window is searched. Called by all threads of a block.
__device__ inline bool is_searched(const Search &search, const DeviceLevel &level, int col, int row,
                                   HitMemory *shared) {
  if (search.places.everywhere()) return true;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < search.places.count) {
    const Region windows = search.windows(level, thread);
    shared->searched[thread] = {windows.x, windows.y, windows.x + windows.width, windows.y + windows.height};
  }
  __syncthreads();
  bool found = false;
  for (int i = 0; i < search.places.count && !found; ++i) {
    const auto &windows = shared->searched[i];
    found = col >= windows.left && col < windows.right && row >= windows.top && row < windows.bottom;
  }
  return found;
}

// Computes the scores and lists the hits; without grouping, also writes the boxes.
static __global__ void __launch_bounds__(kLineThreads, 4) find_hits_kernel(HitTask task) {
  CUDAVISION_SHARED(HitMemory, shared);
  let_next_kernel_start();
  const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const DeviceLevel &level =
      level_of_block(task.levels, task.level_count, block, &DeviceLevel::first_score_block);
  wait_for_kernel_ahead();
  const int window = (block - level.first_score_block) * kLineThreads + thread;
  const int row = window / level.windows_x, col = window - row * level.windows_x;
  const bool searched = is_searched(task.search, level, col, row, &shared);
  bool hit = false;
  if (window < level.window_count) {
    const float score = searched ? score_of(task.rules, level, col, row) : nanf("");
    task.scores[level.windows + window] = score;
    hit = score >= task.thresholds.hit;
  }
  const int hits = __syncthreads_count(hit);
  if (thread == 0) task.block_hits[block] = hits;
  if (!is_last_block(task.done, gridDim.x, &shared.last)) return;
  scan_block_hits(task, &shared);
  list_hits(task, shared);
  const int count = min(shared.hit_count, kMaxHogHits);
  if (task.thresholds.list_all_hits())
    list_all_hits(task, count, shared.hit_count);
  else
    begin_groups(task, count, shared.hit_count);
  if (thread == 0) *task.done = 0;
}

static __global__ void __launch_bounds__(kLineThreads, 4) group_hits_kernel(HitTask task) {
  CUDAVISION_SHARED(GroupMemory, shared);
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int hits = *task.hit_count, count = min(hits, kMaxHogHits);
  unite_hits(task, count);
  if (threadIdx.x == 0) shared.kept_count = shared.listed = 0;
  if (!is_last_block(task.done, gridDim.x, &shared.last)) return;
  sum_groups(task, count);
  list_groups(task, count, &shared);
  if (threadIdx.x == 0) {
    *task.list.count = {shared.listed, hits};
    *task.done = 0;
  }
}

// A key that is greater for a higher score and, of equal scores, for the first hit. Scores of -0 and +0 are equal.
__device__ inline unsigned long long key_of_hit(const HogBox &hit, int index) {
  return static_cast<unsigned long long>(ordered_key(hit.score + 0.f)) << 32 | ~static_cast<unsigned>(index);
}

// Non-maximum suppression by one thread block. A thread handles every kLineThreads-th hit, with a bit for each of its
// hits that is 1 while the hit belongs to no group yet.
static __global__ void __launch_bounds__(kLineThreads) suppress_hits_kernel(HitTask task) {
  CUDAVISION_SHARED(BestMemory, shared);
  static_assert(kMaxHogHits <= 32 * kLineThreads, "the bits of a thread must suffice");
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int thread = static_cast<int>(threadIdx.x), hits = *task.hit_count, count = min(hits, kMaxHogHits);
  unsigned left = 0;
  for (int i = thread; i < count; i += kLineThreads) left |= 1u << i / kLineThreads;
  if (thread == 0) shared.best = 0, shared.overlapping = shared.listed = 0;
  __syncthreads();
  while (true) {
    unsigned long long best = 0;
    for (unsigned bits = left; bits != 0; bits &= bits - 1) {
      const int i = thread + kLineThreads * (__ffs(static_cast<int>(bits)) - 1);
      best = max(best, key_of_hit(task.hits[i], i));
    }
    best = warp_max(best);
    if (thread % 32 == 0) atomicMax(&shared.best, best);
    __syncthreads();
    const unsigned long long key = shared.best;
    if (key == 0) break;
    const HogBox box = task.hits[~static_cast<unsigned>(key)], object = part_of(task.thresholds.object, box);
    int overlapping = 0;
    for (unsigned bits = left; bits != 0; bits &= bits - 1) {
      const int own = __ffs(static_cast<int>(bits)) - 1;
      if (!overlap(object, part_of(task.thresholds.object, task.hits[thread + kLineThreads * own]))) continue;
      left &= ~(1u << own);
      ++overlapping;
    }
    if (overlapping > 0) atomicAdd(&shared.overlapping, overlapping);
    __syncthreads();
    if (thread == 0) {
      if (shared.overlapping > task.thresholds.group)
        task.list.boxes[shared.listed++] = cut_box(task.thresholds.part_of_box(), task.picture, box);
      shared.best = 0, shared.overlapping = 0;
    }
    __syncthreads();
  }
  if (thread == 0) *task.list.count = {shared.listed, hits};
}

}  // namespace cudavision::hog
