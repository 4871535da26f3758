// SPDX-License-Identifier: LGPL-2.1-or-later
// The first kernel of the Hough transform: lists the edge pixels, and clears what the kernels after it count
// in.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/row_chunks.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/hough/hough_rules.h"
#include "cuda/hough/walk_rules.h"

namespace cudavision::hough {

constexpr int kListThreads = 256;

// What the kernels count in. Points have two counters: a frame uses one and clears the other for the next.
struct Counters {
  unsigned points[2];
  unsigned peaks, blocks_done;                 // of the votes
  unsigned candidates, segments, judges_done;  // of the segments
};

// An edge pixel: x, and y in the upper half.
__device__ inline unsigned pack_point(int x, int y) {
  return static_cast<unsigned>(y) << 16 | static_cast<unsigned>(x);
}
__device__ inline int point_x(unsigned point) { return static_cast<int>(point & 0xffff); }
__device__ inline int point_y(unsigned point) { return static_cast<int>(point >> 16); }

struct PointList {
  unsigned *points;
  std::uint16_t *directions;  // of their gradients; null when they are not asked for
};

struct Cleared {
  uint4 *votes;
  std::size_t votes_count;  // in fours
  unsigned *groups_done;
  int group_count;
  unsigned *owners;  // of pixels; null without segments
  std::size_t owner_count;
};

// Bit i is set when byte i of the word is not 0.
__device__ inline unsigned nonzero_bytes(unsigned word) {
  const unsigned high = (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
  return (high >> 7) * 0x01020408u >> 24;
}

// The edges of 16 pixels from column first on, one bit each.
__device__ inline unsigned edges_of_chunk(const std::uint8_t *row, int width, RowChunk chunk) {
  if (chunk.whole) {
    const uint4 words = *reinterpret_cast<const uint4 *>(row + chunk.first);
    return nonzero_bytes(words.x) | nonzero_bytes(words.y) << 4 | nonzero_bytes(words.z) << 8 |
           nonzero_bytes(words.w) << 12;
  }
  unsigned bits = 0;
  for (int i = 0; i < kChunkBytes; ++i) {
    const int x = chunk.first + i;
    if (x >= 0 && x < width && row[x] != 0) bits |= 1u << i;
  }
  return bits;
}

struct Reservation {  // in shared memory
  int warp_counts[kListThreads / 32];
  unsigned begin;
};

// Where this thread's `count` points begin in the list. Every thread of the block calls; barriers inside.
__device__ inline unsigned reserve_points(Reservation &block, int count, unsigned *total) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int up_to_here = warp_inclusive_sum(count, lane);
  if (lane == 31) block.warp_counts[warp] = up_to_here;
  __syncthreads();
  if (thread == 0) {
    int sum = 0;
    for (int w = 0; w < kListThreads / 32; ++w) {
      const int own = block.warp_counts[w];
      block.warp_counts[w] = sum;
      sum += own;
    }
    block.begin = sum == 0 ? 0 : atomicAdd(total, static_cast<unsigned>(sum));
  }
  __syncthreads();
  const unsigned begin = block.begin + static_cast<unsigned>(block.warp_counts[warp] + up_to_here - count);
  __syncthreads();  // the next round writes both
  return begin;
}

__device__ inline void clear(const Cleared &cleared, Counters *counters, int turn) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kListThreads + threadIdx.x;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kListThreads;
  for (std::size_t i = first; i < cleared.votes_count; i += stride) cleared.votes[i] = make_uint4(0, 0, 0, 0);
  for (std::size_t i = first; i < static_cast<std::size_t>(cleared.group_count); i += stride)
    cleared.groups_done[i] = 0;
  if (cleared.owners != nullptr)
    for (std::size_t i = first; i < cleared.owner_count; i += stride) cleared.owners[i] = kUnclaimed;
  if (first == 0) {
    counters->points[1 - turn] = 0;
    counters->peaks = counters->blocks_done = 0;
    counters->candidates = counters->segments = counters->judges_done = 0;
  }
}

// The order of the list depends on that of the blocks; what is counted from it does not.
static __global__ void __launch_bounds__(kListThreads)
    list_points_kernel(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma,
                       PointList list, Counters *counters, int turn,
                       const __grid_constant__ Cleared cleared) {
  __shared__ Reservation block;
  clear(cleared, counters, turn);
  const int chunks_per_row = chunks_of_row(edges.width), chunks = chunks_per_row * edges.height;
  const int stride = static_cast<int>(gridDim.x) * kListThreads;
  for (int base = static_cast<int>(blockIdx.x) * kListThreads; base < chunks; base += stride) {
    const int i = base + static_cast<int>(threadIdx.x), y = i / chunks_per_row;
    RowChunk chunk{0, false};
    unsigned bits = 0;
    if (i < chunks) {
      chunk = chunk_of_row(edges.row(y), edges.width, i % chunks_per_row);
      bits = edges_of_chunk(edges.row(y), edges.width, chunk);
    }
    unsigned at = reserve_points(block, __popc(bits), &counters->points[turn]);
    for (; bits != 0; bits &= bits - 1, ++at) {
      const int x = chunk.first + trailing_zeros(bits);
      list.points[at] = pack_point(x, y);
      if (list.directions != nullptr)
        list.directions[at] = static_cast<std::uint16_t>(gradient_direction(luma, x, y));
    }
  }
}

}  // namespace cudavision::hough
