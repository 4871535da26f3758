// SPDX-License-Identifier: LGPL-2.1-or-later
// The sums of a tile with the default parameters (has_default_params()), whose trip counts are constants. The results are
// those of the general functions in block_tile.cuh, which this file refines: it has other places for the histograms of a
// chunk, so that a thread finds the place of a bin in one instruction and loads four sums at once.
#pragma once

#include "cuda/common/warp.cuh"
#include "cuda/hog/block_tile_layout.cuh"

namespace cudavision::hog {

constexpr int kDefaultColumns = 2 << kDefaultColsLog2;   // columns of cells: two of each column of blocks
constexpr int kHalfRows = kChunkRows / 2;                // a chunk has an upper and a lower half
constexpr int kHalfPlane = kDefaultColumns * kHalfRows;  // the sums of one bin in a half
static_assert(kHalfPlane * sizeof(float) == 256, "add_default_votes() composes addresses of bytes");

// The histograms of a chunk lie in [half][bin][column of cells][row of the half]. In the lower half, columns are exchanged
// in fours, so that a warp, which sums all rows of four columns, accesses all banks.
__device__ inline int place_in_half_plane(int column, int half) { return (column ^ 4 * half) * kHalfRows; }

// Adds the votes of four pixels to a histogram, from left to right. `of_thread` is the place of the thread's histogram in
// a plane of bins, in bytes: the lowest byte of an address. The next byte is the number of the plane, as VoteBins hold it.
__device__ inline void add_default_votes(const SharedTile &tile, int row, int first, const float *weights,
                                         unsigned of_thread) {
  struct alignas(16) Weights {
    float of[4];
  };
  const auto weight = *reinterpret_cast<const Weights *>(weights);
  const auto planes = *reinterpret_cast<const uint2 *>(tile.bins + row * kDefaultWidth + first);
  const float2 *votes = tile.votes + vote_place(kDefaultWidth, row, first);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const unsigned word = k < 2 ? planes.x : planes.y, at = k % 2 * 2;
    const float2 vote = votes[k * vote_quarter(kDefaultWidth)];
    const auto add = [&](unsigned byte, float value) {
      const unsigned offset = __byte_perm(word, of_thread, 0x7704 | byte << 4);
      auto *sum = reinterpret_cast<float *>(reinterpret_cast<char *>(tile.sums) + offset);
      *sum = fmaf(weight.of[k], value, *sum);
    };
    add(at, vote.x);
    add(at + 1, vote.y);
  }
}

// Sums the votes along each row of the chunk. A thread computes the histogram of one row and one column of cells, which
// the votes of twelve pixels reach.
__device__ inline void sum_along_default_rows(const SharedTile &tile) {
  const int thread = static_cast<int>(threadIdx.x);
  if (thread >= kDefaultColumns * kChunkRows) return;
  const int row = thread % kChunkRows, column = thread / kChunkRows, half = row / kHalfRows,
            cell = column % 2;
  const int place = place_in_half_plane(column, half) + row % kHalfRows;
  float *own = tile.sums + half * kDefaultBins * kHalfPlane + place;
#pragma unroll
  for (int b = 0; b < kDefaultBins; ++b) own[b * kHalfPlane] = 0;
  const float *weights = tile.x_weight + cell * 16 + cell * 4;
#pragma unroll
  for (int i = 0; i < 12; i += 4)
    add_default_votes(tile, row, 4 * column + i, weights + i, static_cast<unsigned>(place) * sizeof(float));
}

// Adds the chunk, which begins at row y of the tile, to the descriptors of the blocks that it meets. A thread takes one bin
// of a column of cells, and loads its sums once for all cells.
__device__ inline void sum_down_default_rows(const TilePlan &plan, int y, const SharedTile &tile) {
  constexpr int kPadded = 16 + 2 * kChunkRows;
  const int thread = static_cast<int>(threadIdx.x), column = thread % kDefaultColumns,
            bin = thread / kDefaultColumns;
  if (bin >= kDefaultBins) return;
  const auto sums_of = [&](int half) {
    return *reinterpret_cast<const float4 *>(tile.sums + (half * kDefaultBins + bin) * kHalfPlane +
                                             place_in_half_plane(column, half));
  };
  const float4 upper = sums_of(0), lower = sums_of(1);
  const auto add_half = [](const float4 &weight, const float4 &sums, float sum) {
    sum = fmaf(weight.y, sums.y, fmaf(weight.x, sums.x, sum));
    return fmaf(weight.w, sums.w, fmaf(weight.z, sums.z, sum));
  };
  // The blocks that begin above the end of the chunk and end below its beginning: one or two rows of them.
  const int first_row = max(y / kChunkRows - 1, 0), end_row = min(y / kChunkRows + 1, 1 << plan.rows_log2);
  for (int row = first_row; row < end_row; ++row) {
    const int top = row * 8 - y;
    float *numbers = tile.blocks + ((row << kDefaultColsLog2) + column / 2) * kDefaultLength +
                     column % 2 * (2 * kDefaultBins) + bin;
#pragma unroll
    for (int cell = 0; cell < 2; ++cell, numbers += kDefaultBins) {
      const auto *weights =
          reinterpret_cast<const float4 *>(tile.y_weight + cell * kPadded + kChunkRows - top);
      const float before = top < 0 ? *numbers : 0.0f;  // else no chunk before has met this block
      *numbers = add_half(weights[1], lower, add_half(weights[0], upper, before));
    }
  }
}

// Normalises the descriptors of the tile by HogNorm::l2_hys and writes them. Four lanes of a warp work on a descriptor and
// keep its numbers in registers.
__device__ inline void normalize_default_tile(const TiledPicture &picture, const Rules &rules,
                                              const TilePlan &plan, int row0, int col0,
                                              const SharedTile &tile, float *out) {
  constexpr int kLanes = 4, kNumbers = kDefaultLength / kLanes, kSums = kPartialSums / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int blocks = 1 << (kDefaultColsLog2 + plan.rows_log2);
  Rules known = rules;
  known.norm = HogNorm::l2_hys;
  // The sum of the squares, in the order of hog_rules.h: sum i of a lane is partial sum lane + kLanes * i.
  const auto sum_of_squares = [](const float(&numbers)[kNumbers]) {
    float sums[kSums] = {};
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) sums[i % kSums] = fmaf(numbers[i], numbers[i], sums[i % kSums]);
    return warp_sum((sums[0] + sums[2]) + (sums[1] + sums[3]), kLanes);
  };
  for (int first = 0; first < blocks; first += kTileThreads / kLanes) {
    // All lanes take part in warp_sum(): those without a block repeat the last one and do not write.
    const int index = first + static_cast<int>(threadIdx.x) / kLanes, b = min(index, blocks - 1);
    float numbers[kNumbers];
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) numbers[i] = tile.blocks[b * kDefaultLength + lane + kLanes * i];
    const float scale = scale_of(known, sum_of_squares(numbers));
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) numbers[i] = scaled(known, numbers[i], scale);
    const float second_scale = second_scale_of(known, sum_of_squares(numbers));
    const int row = row0 + (b >> kDefaultColsLog2), col = col0 + b % (1 << kDefaultColsLog2);
    if (index >= blocks || row >= picture.rows || col >= picture.cols) continue;
    float *to = out + picture.place.offset(row, col) + lane * picture.place.number_stride;
#pragma unroll
    for (int i = 0; i < kNumbers; ++i, to += kLanes * picture.place.number_stride)
      *to = numbers[i] * second_scale;
  }
}

}  // namespace cudavision::hog
