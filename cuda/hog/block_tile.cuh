// SPDX-License-Identifier: LGPL-2.1-or-later
// The computation of blocks by thread blocks: each thread block owns a tile of HOG blocks and processes the tile's
// pixels from top to bottom, a few rows (a chunk) at a time. Because the weights are separable, a chunk takes two steps
// without atomics: first, each pixel row is summed into one histogram for each column of cells, by one thread per
// histogram; then these histograms are summed vertically, with the weights of their rows, into the descriptors of the
// blocks. PlainTile works with any parameters; DefaultTile (default_tile.cuh) is faster, for the default ones.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/warp.cuh"
#include "cuda/hog/block_tile_layout.cuh"
#include "cuda/hog/default_tile.cuh"

namespace cudavision::hog {

// Reads the pixels of a HogPicture, with the channels in the order B, G, R: if the gradients of several channels are
// equally long, the first of these channels counts.
template <int kChannels>
struct FrameSource {
  static constexpr int channels = kChannels;
  const std::uint8_t *data[kChannels];
  int pitch_bytes, step_bytes;

  explicit FrameSource(const HogPicture &picture)
      : pitch_bytes(static_cast<int>(picture.component[0].pitch_bytes)),
        step_bytes(picture.component[0].step_bytes) {
    for (int c = 0; c < kChannels; ++c) data[c] = picture.component[kChannels - 1 - c].data;
  }
  struct Pixel {
    int bytes[kChannels];

    __device__ int byte(int channel) const { return bytes[channel]; }
  };
  __device__ Pixel fetch(int x, int y) const {
    const int at = y * pitch_bytes + x * step_bytes;
    Pixel pixel;
    for (int c = 0; c < kChannels; ++c) pixel.bytes[c] = data[c][at];
    return pixel;
  }
  // Returns the channels of a pixel as the bytes of a word, the first channel in the lowest byte.
  __device__ unsigned pixel(int x, int y) const {
    const Pixel bytes = fetch(x, y);
    unsigned pixel = 0;
    for (int c = 0; c < kChannels; ++c) pixel |= static_cast<unsigned>(bytes.byte(c)) << (8 * c);
    return pixel;
  }
};

// The steps in which a thread block computes a tile of HOG blocks, for any HOG parameters. The tile's first block is
// (row0, col0). All threads must call each step.
template <typename Source>
struct PlainTile {
  const Source &source;
  const TiledPicture &picture;
  const Rules &rules;
  const TilePlan &plan;
  const AxisWeights &weights;
  int row0, col0;
  // The following arrays are in shared memory.
  float *color_of;  // [256]: color_value() of each byte
  float2 *votes;    // the votes of each pixel of the chunk for its first and its second bin; see vote_place()
  float *sums;      // [bin][row of pixels][column of cells]: the histograms of the chunk
  float *blocks;    // [block][length]: the descriptors
  VoteBins *bins;   // [kChunkRows][width]

  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  // The number of columns of cells in all columns of blocks of the tile.
  __device__ int across() const { return rules.cells_x << plan.cols_log2; }

  // Computes the votes of the chunk that begins at row y of the tile. Pixels of the tile outside the picture belong to
  // none of its blocks; border pixels are read in their place.
  __device__ void vote(int y) const {
    const int width = picture.width, height = picture.height,
              tail = first_column_of_tail(rules.variant, width);
    for (int i = thread(); i < kChunkRows * plan.width; i += kTileThreads) {
      const int row = i / plan.width, column = i - row * plan.width;
      const int px = min(col0 * rules.stride.width + column, width - 1),
                py = min(row0 * rules.stride.height + y + row, height - 1);
      const auto left = source.fetch(mirror_index(px - 1, width), py),
                 right = source.fetch(mirror_index(px + 1, width), py),
                 above = source.fetch(px, mirror_index(py - 1, height)),
                 below = source.fetch(px, mirror_index(py + 1, height));
      LongestGradient longest{.reverse = px >= tail};
#pragma unroll
      for (int c = 0; c < Source::channels; ++c)
        longest.take(c, color_of[right.byte(c)] - color_of[left.byte(c)],
                     color_of[below.byte(c)] - color_of[above.byte(c)]);
      const Vote vote = vote_of(rules, longest.dx, longest.dy, longest.squared_length);
      votes[vote_place(plan.width, row, column)] = {vote.first, vote.second};
      const int next = vote.bin + 1 == rules.bins ? 0 : vote.bin + 1;
      bins[i] = {static_cast<std::uint8_t>(vote.bin), static_cast<std::uint8_t>(next)};
    }
  }

  // Sums the votes along each row of the chunk. A thread computes the histogram of one row and one column of cells. The
  // histograms are interleaved, so that the threads of a warp access different banks.
  __device__ void sum_along_rows() const {
    const int histograms = kChunkRows * across();
    for (int i = thread(); i < histograms; i += kTileThreads) {
      const int row = i / across(), column = i - row * across(), cell = column % rules.cells_x;
      const int x = column / rules.cells_x * rules.stride.width;
      const float *weight = weights.x + cell * rules.block.width;
      float *own = sums + i;
      for (int b = 0; b < rules.bins; ++b) own[b * histograms] = 0;
      for (int k = first_voter(rules, cell); k < end_of_voters(rules, cell); ++k) {
        const VoteBins to = bins[row * plan.width + x + k];
        const float2 vote = votes[vote_place(plan.width, row, x + k)];
        float *first = own + to.first * histograms, *second = own + to.second * histograms;
        *first = fmaf(weight[k], vote.x, *first);
        *second = fmaf(weight[k], vote.y, *second);
      }
    }
  }

  // Adds the histograms of the chunk that begins at row y of the tile to the descriptors of the blocks that have rows
  // in the chunk. A thread adds to one number of a descriptor at a time.
  __device__ void sum_down_rows(int y) const {
    const int block_height = rules.block.height, stride = rules.stride.height;
    const int first_row = y < block_height ? 0 : (y - block_height) / stride + 1,
              end_row = min((y + kChunkRows - 1) / stride + 1, plan.rows);
    const int of_row = rules.cells_y * rules.bins * across();
    for (int i = thread(); i < (end_row - first_row) * of_row; i += kTileThreads) {
      const int column = i % across(), number = i / across(), bin = number % rules.bins,
                cell_y = number / rules.bins % rules.cells_y, row = first_row + i / of_row;
      const int block = (row << plan.cols_log2) + column / rules.cells_x, cell_x = column % rules.cells_x;
      const int top = row * stride - y;  // the first row of the block, relative to the chunk
      const float *weight = weights.y + cell_y * block_height - top;
      const float *from = sums + bin * kChunkRows * across() + column;
      float &sum = blocks[block * rules.length + (cell_x * rules.cells_y + cell_y) * rules.bins + bin];
      float value = top < 0 ? sum : 0.0f;  // otherwise this is the block's first chunk
      for (int k = max(top, 0); k < min(top + block_height, kChunkRows); ++k)
        value = fmaf(weight[k], from[k * across()], value);
      sum = value;
    }
  }

  // Returns the sum over a block to each of its kPartialSums lanes, in the order of additions that hog_rules.h defines.
  // add(k, sum) must return sum plus the term of number k.
  template <typename Add>
  __device__ float sum_over_block(const Add &add) const {
    float sum = 0;
    for (int k = thread() % kPartialSums; k < rules.length; k += kPartialSums) sum = add(k, sum);
    return warp_sum(sum, kPartialSums);
  }

  // Normalises the descriptors and writes them; kPartialSums lanes of a warp work on one descriptor.
  __device__ void normalize(float *out) const {
    const int count = plan.rows << plan.cols_log2;
    for (int first = 0; first < count; first += kTileThreads / kPartialSums) {
      // All lanes take part in warp_sum(): those without a block repeat the last one and do not write.
      const int index = first + thread() / kPartialSums, b = min(index, count - 1);
      const float *block = blocks + b * rules.length;
      const float scale =
          scale_of(rules, sum_over_block([&](int k, float sum) { return add_term(rules, block[k], sum); }));
      float second_scale = 1.0f;
      if (rules.norm == HogNorm::l2_hys)
        second_scale = second_scale_of(rules, sum_over_block([&](int k, float sum) {
                                         const float v = scaled(rules, block[k], scale);
                                         return fmaf(v, v, sum);
                                       }));
      const int row = row0 + (b >> plan.cols_log2), col = col0 + (b & ((1 << plan.cols_log2) - 1));
      if (index >= count || row >= picture.rows || col >= picture.cols) continue;
      float *to = out + picture.place.offset(row, col);
      for (int k = thread() % kPartialSums; k < rules.length; k += kPartialSums)
        to[k * picture.place.number_stride] = scaled(rules, block[k], scale) * second_scale;
    }
  }
};

// Does the work of make_tile() for any HOG parameters.
template <typename Source, typename Wait>
__device__ void make_plain_tile(const Source &source, const TiledPicture &picture, const Rules &rules,
                                const TilePlan &plan, const AxisWeights &weights, int tile_index, float *out,
                                float *shared, const Wait &wait_for_pixels) {
  const int tile_y = tile_index / picture.tiles_x, tile_x = tile_index - tile_y * picture.tiles_x;
  float *votes = shared + 256, *sums = votes + 2 * kChunkRows * vote_pitch(plan.width),
        *blocks = sums + kChunkRows * rules.bins * (rules.cells_x << plan.cols_log2);
  const PlainTile<Source> tile{
      .source = source,
      .picture = picture,
      .rules = rules,
      .plan = plan,
      .weights = weights,
      .row0 = tile_y * plan.rows,
      .col0 = tile_x << plan.cols_log2,
      .color_of = shared,
      .votes = reinterpret_cast<float2 *>(votes),
      .sums = sums,
      .blocks = blocks,
      .bins = reinterpret_cast<VoteBins *>(blocks + (plan.rows << plan.cols_log2) * rules.length)};
  list_colors(rules, tile.color_of);
  wait_for_pixels();
  __syncthreads();
  // At the bottom of the picture a tile may have fewer blocks.
  const int block_rows = min(plan.rows, picture.rows - tile.row0);
  const int height = (block_rows - 1) * rules.stride.height + rules.block.height;
  for (int y = 0; y < height; y += kChunkRows) {
    tile.vote(y);
    __syncthreads();
    tile.sum_along_rows();
    __syncthreads();
    tile.sum_down_rows(y);
  }
  __syncthreads();
  wait_for_kernel_ahead();
  tile.normalize(out);
}

// Computes the blocks of tile `tile_index` (in row-major order) and writes them to out. kDefaultParams requires
// has_default_params(rules). If `picture` is in global memory, its members take fewer registers. shared:
// plan.shared_bytes of dynamic shared memory. wait_for_pixels() is called before the first pixel is read.
template <bool kDefaultParams, typename Source, typename Wait>
__device__ void make_tile(const Source &source, const TiledPicture &picture, const Rules &rules,
                          const TilePlan &plan, const AxisWeights &weights, int tile_index, float *out,
                          float *shared, const Wait &wait_for_pixels) {
  if constexpr (kDefaultParams)
    make_default_tile(source, picture, rules, plan.rows, weights, tile_index, out, shared, wait_for_pixels);
  else
    make_plain_tile(source, picture, rules, plan, weights, tile_index, out, shared, wait_for_pixels);
}

}  // namespace cudavision::hog
