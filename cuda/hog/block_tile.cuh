// SPDX-License-Identifier: LGPL-2.1-or-later
// The computation of blocks by thread blocks: each thread block owns a tile of HOG blocks and processes the
// tile's pixels from top to bottom, a few rows (a chunk) at a time. Because the weights are separable, a
// chunk takes two steps without atomics: first, each pixel row is summed into one histogram for each column
// of cells, by one thread per histogram; then these histograms are summed vertically, with the weights of
// their rows, into the descriptors of the blocks. default_tile.cuh does the same for the default parameters, with fewer
// instructions.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/launch.h"
#include "cuda/common/walk.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/hog/block_tile_layout.cuh"
#include "cuda/hog/default_tile.cuh"

namespace cudavision::hog {

// Reads the pixels of a HogPicture, channels in the order B, G, R: on a tie between channels the first one
// wins.
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
  // The channels in the bytes of a word, the first one in the lowest.
  __device__ unsigned pixel(int x, int y) const {
    const Pixel bytes = fetch(x, y);
    unsigned pixel = 0;
    for (int c = 0; c < kChannels; ++c) pixel |= static_cast<unsigned>(bytes.byte(c)) << (8 * c);
    return pixel;
  }
};

__device__ inline void load_weights(const Rules &rules, const DeviceWeights &x_weights,
                                    const DeviceWeights &y_weights, const SharedTile &tile) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < rules.cells_x * rules.block.width; i += kTileThreads)
    tile.x_weight[i] = x_weights.weight[i];
  const int padded = padded_height(rules);
  for (int i = thread; i < rules.cells_y * padded; i += kTileThreads) {
    const int cell = i / padded, pixel = i - cell * padded - kChunkRows;
    const bool inside = pixel >= 0 && pixel < rules.block.height;
    tile.y_weight[i] = inside ? y_weights.weight[cell * rules.block.height + pixel] : 0.0f;
  }
}

// Loads the chunk that begins at (x0, y0), with a halo of one pixel. The picture is mirrored at its borders,
// which a chunk inside the picture does not meet. Each thread issues several loads before it uses the first one.
template <bool kInside, typename Source>
__device__ void load_colors(const Source &source, const TiledPicture &picture, const TilePlan &plan, int x0,
                            int y0, const SharedTile &tile) {
  constexpr int kLoads = kInside ? 2 : 1;
  const int width = plan.width + 2, count = width * (kChunkRows + 2);
  auto *all_colors = reinterpret_cast<Colors<Source::channels> *>(tile.colors);
  int i = static_cast<int>(threadIdx.x);
  for (Walk<kTileThreads> at(width, i); i < count; i += kLoads * kTileThreads) {
    typename Source::Pixel pixels[kLoads] = {};
#pragma unroll
    for (int k = 0; k < kLoads; ++k, at.advance()) {
      int x = x0 + at.column - 1, y = y0 + at.row - 1;
      // Only the first pixel outside the picture matters. Pixels further out belong to no block.
      if (!kInside && (x < 0 || x >= picture.width)) x = mirror_index(min(x, picture.width), picture.width);
      if (!kInside && (y < 0 || y >= picture.height))
        y = mirror_index(min(y, picture.height), picture.height);
      if (i + k * kTileThreads < count) pixels[k] = source.fetch(x, y);
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      Colors<Source::channels> colors{};
      if (i + k * kTileThreads >= count) continue;
      for (int c = 0; c < Source::channels; ++c) colors.of[c] = tile.color_of[pixels[k].byte(c)];
      all_colors[i + k * kTileThreads] = colors;
    }
  }
}

// The votes of the pixels of a chunk. kTail: from the column `tail` on, ties between channels are decided in reverse.
template <int kChannels, bool kTail>
__device__ void vote_columns(const Rules &rules, const TilePlan &plan, int x0, int tail,
                             const SharedTile &tile) {
  const int pitch = plan.width + 2;
  const auto *colors = reinterpret_cast<const Colors<kChannels> *>(tile.colors);
  int i = static_cast<int>(threadIdx.x);
  for (Walk<kTileThreads> at(plan.width, i); i < kChunkRows * plan.width; i += kTileThreads, at.advance()) {
    const auto *center = colors + (at.row + 1) * pitch + at.column + 1;
    const Colors<kChannels> left = center[-1], right = center[1], above = center[-pitch],
                            below = center[pitch];
    LongestGradient longest{.reverse = kTail && x0 + at.column >= tail};
#pragma unroll
    for (int k = 0; k < kChannels; ++k) longest.take(k, right.of[k] - left.of[k], below.of[k] - above.of[k]);
    const Vote vote = vote_of(rules, longest.dx, longest.dy, longest.squared_length);
    tile.votes[vote_place(plan.width, at.row, at.column)] = {vote.first, vote.second};
    const int next = vote.bin + 1 == rules.bins ? 0 : vote.bin + 1;
    tile.bins[i] = {static_cast<std::uint8_t>(vote.bin), static_cast<std::uint8_t>(next)};
  }
}

// Sums the votes along each row of the chunk. Each thread computes the histogram of one pixel row and one
// column of cells of one column of blocks. The histograms are interleaved, so that the threads of a warp
// access different banks.
__device__ inline void sum_along_rows(const Rules &rules, const TilePlan &plan, const DeviceWeights &weights,
                                      const SharedTile &tile) {
  for (int item = static_cast<int>(threadIdx.x); item < plan.items; item += kTileThreads) {
    const int column = item / rules.cells_x, cell = item - column * rules.cells_x;
    const int row = column >> plan.cols_log2, block = column & ((1 << plan.cols_log2) - 1);
    const int x = block * rules.stride.width;
    const float *weight = tile.x_weight + cell * rules.block.width;
    float *sums = tile.sums + item;
    for (int b = 0; b < rules.bins; ++b) sums[b * plan.items] = 0;
#pragma unroll 4
    for (int i = weights.begin[cell]; i < weights.end[cell]; ++i) {
      const VoteBins bins = tile.bins[row * plan.width + x + i];
      const float2 vote = tile.votes[vote_place(plan.width, row, x + i)];
      float *first = sums + bins.first * plan.items, *second = sums + bins.second * plan.items;
      *first = fmaf(weight[i], vote.x, *first);
      *second = fmaf(weight[i], vote.y, *second);
    }
  }
}

// Adds the chunk, which begins at row y of the tile, to the descriptors of the blocks that it meets. A thread takes
// kBins bins of one cell at a time, so that it loads the weights of the rows once for all of them. Other threads may
// update the numbers in the next chunk: barriers lie between.
__device__ inline void sum_down_rows(const Rules &rules, const TilePlan &plan, int y,
                                     const SharedTile &tile) {
  constexpr int kBins = 3;
  // A thread works on one column of cells of one column of blocks.
  const int across = rules.cells_x << plan.cols_log2, abreast = kTileThreads / across;
  const int first = static_cast<int>(threadIdx.x) / across,
            column = static_cast<int>(threadIdx.x) - first * across;
  if (first >= abreast) return;
  const int block_col = column / rules.cells_x, cell_x = column - block_col * rules.cells_x;
  // The blocks that begin above the end of the chunk and end below its beginning.
  const int first_row = y < rules.block.height ? 0 : (y - rules.block.height) / rules.stride.height + 1;
  const int end_row = min((y + kChunkRows - 1) / rules.stride.height + 1, plan.rows);
  const int padded = padded_height(rules), bin_groups = (rules.bins + kBins - 1) / kBins;
  const int cells = (end_row - first_row) * rules.cells_y;
  if (cells <= 0) return;
  // All cells for the first bins, then all for the next ones: the two half-warps of a warp take two cells and the same
  // bins, so that they load the same sums.
  for (int cell = first, bin_group = 0;; cell += abreast) {
    while (cell >= cells) cell -= cells, ++bin_group;
    if (bin_group >= bin_groups) return;
    const int first_bin = bin_group * kBins;
    const int row = cell / rules.cells_y, cell_y = cell - row * rules.cells_y, block_row = first_row + row;
    const int top = block_row * rules.stride.height - y;  // the first row of the block, relative to the chunk
    float weight[kChunkRows];
#pragma unroll
    for (int k = 0; k < kChunkRows; ++k) weight[k] = tile.y_weight[cell_y * padded + kChunkRows - top + k];
    const int block = (block_row << plan.cols_log2) + block_col;
    float *numbers = tile.blocks + block * rules.length + (cell_x * rules.cells_y + cell_y) * rules.bins;
#pragma unroll
    for (int b = 0; b < kBins; ++b) {
      const int bin = first_bin + b;
      if (bin >= rules.bins) break;
      const float *sums = tile.sums + bin * plan.items + column;
      float sum = top < 0 ? numbers[bin] : 0.0f;  // else no chunk before has met this block
#pragma unroll
      for (int k = 0; k < kChunkRows; ++k) sum = fmaf(weight[k], sums[k * across], sum);
      numbers[bin] = sum;
    }
  }
}

// The steps of make_tile() for a chunk that begins at row y of the tile.
template <typename Source>
struct Chunks {
  const Source &source;
  const TiledPicture &picture;
  const Rules &rules;
  const TilePlan &plan;
  const DeviceWeights &x_weights;
  const SharedTile &tile;
  int x0, y0;  // the tile's first pixel

  __device__ void load(int y) const {
    const bool inside =
        x0 > 0 && y0 + y > 0 && x0 + plan.width < picture.width && y0 + y + kChunkRows < picture.height;
    if (inside)
      load_colors<true>(source, picture, plan, x0, y0 + y, tile);
    else
      load_colors<false>(source, picture, plan, x0, y0 + y, tile);
  }
  __device__ void vote() const {
    constexpr int kChannels = Source::channels;
    const int tail = first_column_of_tail(rules.variant, picture.width);
    if (kChannels == 1 || x0 + plan.width <= tail)
      vote_columns<kChannels, false>(rules, plan, x0, tail, tile);
    else
      vote_columns<kChannels, true>(rules, plan, x0, tail, tile);
  }
  __device__ void sum_along() const { sum_along_rows(rules, plan, x_weights, tile); }
  __device__ void sum_down(int y) const { sum_down_rows(rules, plan, y, tile); }
};

// Returns to each of a block's kLanes lanes the sum over the block in the order that hog_rules.h defines; add(k, sum)
// must return sum plus the term of number k.
template <int kLanes, typename Add>
__device__ float sum_over_block(int length, int lane, const Add &add) {
  constexpr int kSums = kPartialSums / kLanes;
  float sums[kSums] = {};
  for (int first = lane; first < length; first += kPartialSums)
#pragma unroll
    for (int i = 0; i < kSums; ++i)
      if (const int k = first + i * kLanes; k < length) sums[i] = add(k, sums[i]);
#pragma unroll
  for (int half = kSums / 2; half > 0; half /= 2)
#pragma unroll
    for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
  return warp_sum(sums[0], kLanes);
}

// Normalises the descriptors of the tile and writes them; kLanes lanes of a warp work on one descriptor.
template <int kLanes>
__device__ inline void normalize_tile(const TiledPicture &picture, const Rules &rules, const TilePlan &plan,
                                      int row0, int col0, const SharedTile &tile, float *out) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  constexpr int abreast = kTileThreads / kLanes;
  const int blocks = plan.rows << plan.cols_log2;
  for (int first = 0; first < blocks; first += abreast) {
    // All lanes take part in warp_sum(): those without a block repeat the last one and do not write.
    const int index = first + static_cast<int>(threadIdx.x) / kLanes, b = min(index, blocks - 1);
    const float *block = tile.blocks + b * rules.length;
    const float scale = scale_of(rules, sum_over_block<kLanes>(rules.length, lane, [&](int k, float sum) {
                                   return add_term(rules, block[k], sum);
                                 }));
    float second_scale = 1.0f;
    if (rules.norm == HogNorm::l2_hys)
      second_scale = second_scale_of(rules, sum_over_block<kLanes>(rules.length, lane, [&](int k, float sum) {
                                       const float v = scaled(rules, block[k], scale);
                                       return fmaf(v, v, sum);
                                     }));
    const int row = row0 + (b >> plan.cols_log2), col = col0 + (b & ((1 << plan.cols_log2) - 1));
    if (index >= blocks || row >= picture.rows || col >= picture.cols) continue;
    float *to = out + picture.place.offset(row, col);
    for (int k = lane; k < rules.length; k += kLanes)
      to[k * picture.place.number_stride] = scaled(rules, block[k], scale) * second_scale;
  }
}

// make_tile() with any parameters.
template <typename Source, typename Wait>
__device__ void make_any_tile(const Source &source, const TiledPicture &picture, const Rules &rules,
                              const TilePlan &plan, const DeviceWeights &x_weights,
                              const DeviceWeights &y_weights, int tile_index, float *out, float *shared,
                              const Wait &wait_for_pixels) {
  const SharedTile tile = share_tile(shared, rules, plan, Source::channels);
  const int tile_y = tile_index / picture.tiles_x, tile_x = tile_index - tile_y * picture.tiles_x;
  const int col0 = tile_x << plan.cols_log2, row0 = tile_y * plan.rows;
  const int x0 = col0 * rules.stride.width, y0 = row0 * rules.stride.height;
  list_colors(rules, tile.color_of);
  load_weights(rules, x_weights, y_weights, tile);
  wait_for_pixels();
  // At the bottom of the picture a tile may have fewer blocks.
  const int block_rows = min(plan.rows, picture.rows - row0);
  const int height = (block_rows - 1) * rules.stride.height + rules.block.height;
  const Chunks<Source> chunks{source, picture, rules, plan, x_weights, tile, x0, y0};
  // Two barriers a chunk, which begins at row y: its votes are made while the chunk before it is summed down, and it is
  // summed along while the next chunk is loaded.
  for (int y = -kChunkRows;; y += kChunkRows) {
    __syncthreads();
    if (y > 0) chunks.sum_down(y - kChunkRows);
    if (y >= height) break;
    if (y >= 0) chunks.vote();
    __syncthreads();
    if (y + kChunkRows < height) chunks.load(y + kChunkRows);
    if (y >= 0) chunks.sum_along();
  }
  __syncthreads();
  wait_for_kernel_ahead();
  // A warp then writes the same number of several blocks: in the layout of the detector these are adjacent.
  if (rules.length <= 64)
    normalize_tile<4>(picture, rules, plan, row0, col0, tile, out);
  else
    normalize_tile<kPartialSums>(picture, rules, plan, row0, col0, tile, out);
}

// Computes the blocks of tile `tile_index` (in row-major order) and writes them to out. kDefaultParams
// requires has_default_params(rules). If `picture` lies in memory, fewer of its members occupy registers.
// shared: plan.shared_bytes of dynamic shared memory. wait_for_pixels() is called before the first pixel is read.
template <bool kDefaultParams, typename Source, typename Wait>
__device__ void make_tile(const Source &source, const TiledPicture &picture, const Rules &rules,
                          const TilePlan &plan, const DeviceWeights &x_weights,
                          const DeviceWeights &y_weights, int tile_index, float *out, float *shared,
                          const Wait &wait_for_pixels) {
  if constexpr (kDefaultParams)
    make_default_tile(source, picture, rules, plan.rows, x_weights, y_weights, tile_index, out, shared,
                      wait_for_pixels);
  else
    make_any_tile(source, picture, rules, plan, x_weights, y_weights, tile_index, out, shared,
                  wait_for_pixels);
}

}  // namespace cudavision::hog
