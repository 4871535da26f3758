// SPDX-License-Identifier: LGPL-2.1-or-later
// The first kernel of the Hough transform: lists the edge pixels, and clears the scratch memory in which the
// following kernels count.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/block_scan.cuh"
#include "cuda/common/row_chunks.cuh"
#include "cuda/common/static_shared.cuh"
#include "cuda/hough/hough_rules.h"
#include "cuda/hough/walk_rules.h"

namespace cudavision::hough {

constexpr int kListThreads = 256;

struct Counters {
  // Double-buffered: a frame counts in one element and clears the other one for the next frame.
  unsigned points[2];
  unsigned peaks;
  // Counted by the segment kernels (segments.cuh).
  unsigned candidates, segments;
};

// An edge pixel in one word: x in the lower half, y in the upper half.
__device__ inline unsigned pack_point(int x, int y) {
  return static_cast<unsigned>(y) << 16 | static_cast<unsigned>(x);
}
__device__ inline int point_x(unsigned point) { return static_cast<int>(point & 0xffff); }
__device__ inline int point_y(unsigned point) { return static_cast<int>(point >> 16); }

struct PointList {
  unsigned *points;
  std::uint16_t *directions;  // the gradient direction of each point; null without gradient voting
};

// The memory that the first kernel clears.
struct ClearTask {
  uint4 *votes;
  std::size_t votes_count;  // in elements of 16 bytes
  unsigned *owners;         // the owner of each pixel (segments.cuh); null unless segments are searched
  std::size_t owner_count;
};

// Bit i of the result is set if byte i of the word is nonzero.
__device__ inline unsigned nonzero_bytes(unsigned word) {
  const unsigned high = (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
  return (high >> 7) * 0x01020408u >> 24;
}

// Bit i of the result is set if pixel i of the chunk is an edge.
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

// Reserves `count` elements of a list for this thread, with one atomic per block, and returns the index of
// the first. block_begin and warp_sums: shared memory; warp_sums as for block_exclusive_sum(). All threads of
// the block must call; contains barriers.
__device__ inline unsigned reserve(int count, unsigned *total, unsigned *block_begin, int *warp_sums) {
  int block_count = 0;
  const int before = block_exclusive_sum<kListThreads>(count, warp_sums, &block_count);
  // The barriers in the next call of block_exclusive_sum() separate the reads of *block_begin from its next write.
  if (threadIdx.x == 0)
    *block_begin = block_count == 0 ? 0 : atomicAdd(total, static_cast<unsigned>(block_count));
  __syncthreads();
  return *block_begin + static_cast<unsigned>(before);
}

// Clears the memory in which this frame counts. turn: the element of Counters::points that this frame uses.
__device__ inline void clear(const ClearTask &to_clear, Counters *counters, int turn) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kListThreads + threadIdx.x;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kListThreads;
  for (std::size_t i = first; i < to_clear.votes_count; i += stride)
    to_clear.votes[i] = make_uint4(0, 0, 0, 0);
  if (to_clear.owners != nullptr)
    for (std::size_t i = first; i < to_clear.owner_count; i += stride) to_clear.owners[i] = kUnclaimed;
  if (first == 0) {
    counters->points[1 - turn] = 0;
    counters->peaks = 0;
    counters->candidates = counters->segments = 0;
  }
}

// The order of the list depends on the order of the blocks, but the votes do not depend on the order of the
// list.
static __global__ void __launch_bounds__(kListThreads)
    list_points_kernel(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma,
                       PointList list, Counters *counters, int turn,
                       const __grid_constant__ ClearTask to_clear) {
  CUDAVISION_SHARED(int[kListThreads / 32], warp_sums);
  CUDAVISION_SHARED(unsigned, block_begin);
  clear(to_clear, counters, turn);
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
    unsigned at = reserve(__popc(bits), &counters->points[turn], &block_begin, warp_sums);
    for (; bits != 0; bits &= bits - 1, ++at) {
      const int x = chunk.first + trailing_zeros(bits);
      list.points[at] = pack_point(x, y);
      if (list.directions != nullptr)
        list.directions[at] = static_cast<std::uint16_t>(gradient_direction(luma, x, y));
    }
  }
}

}  // namespace cudavision::hough
