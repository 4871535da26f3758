// SPDX-License-Identifier: LGPL-2.1-or-later
// A tile of blocks with the default parameters (has_default_params()), whose trip counts are constants. It gives the
// results of the plain tile in block_tile.cuh with fewer instructions: a thread stays with one column of
// pixels, or one bin of one column of cells, so that it computes its addresses once; a row of blocks is normalised as
// soon as it is complete, so that a tile may be tall; and the rows that two chunks share are loaded once.
#pragma once

#include "cuda/common/launch_cuda.h"
#include "cuda/common/warp.cuh"
#include "cuda/hog/block_tile_layout.cuh"

namespace cudavision::hog {

constexpr int kDefaultColumns = 2 << kDefaultColsLog2;   // columns of cells: two for each column of blocks
constexpr int kHalfRows = kChunkRows / 2;                // a chunk has an upper and a lower half
constexpr int kHalfPlane = kDefaultColumns * kHalfRows;  // the sums of one bin in a half
static_assert(kHalfPlane * sizeof(float) == 256, "add_votes() composes addresses of bytes");

// The colours of a chunk, with a halo of one pixel. With three channels, a pixel takes two accesses, of 8 and of 4
// bytes; with one channel, one access of 4 bytes.
constexpr int kColorPitch = kDefaultWidth + 2, kChunkColors = (kChunkRows + 2) * kColorPitch;
template <int kChannels>
struct ChunkColors {
  float2 first[kChunkColors];
  float third[kChunkColors];

  __device__ void load(int place, float (&colors)[3]) const {
    const float2 two = first[place];
    colors[0] = two.x, colors[1] = two.y, colors[2] = third[place];
  }
  __device__ void store(int place, const float (&colors)[3]) {
    first[place] = {colors[0], colors[1]}, third[place] = colors[2];
  }
};
template <>
struct ChunkColors<1> {
  float first[kChunkColors];

  __device__ void load(int place, float (&colors)[1]) const { colors[0] = first[place]; }
  __device__ void store(int place, const float (&colors)[1]) { first[place] = colors[0]; }
};

// The shared memory of a thread block.
template <int kChannels>
struct alignas(16) DefaultTileMemory {
  VoteBins bins[kChunkRows * kDefaultWidth];
  float2 votes[kChunkRows * vote_pitch(kDefaultWidth)];  // see vote_place()
  float x_weight[2][16];                                 // [column of cells][pixel of a block]
  float y_weight[2][16];                                 // [row of cells][pixel of a block]
  // The histograms of the chunk: [half][bin][column of cells][row of the half]. In the lower half, columns are swapped
  // in groups of four, so that a warp, which sums all rows of four columns, accesses all banks.
  float sums[2 * kDefaultBins * kHalfPlane];
  // Two rows of blocks: one is completed while the one before it is normalised.
  float blocks[2][kDefaultLength << kDefaultColsLog2];
  ChunkColors<kChannels> colors;
  float color_of[256];  // color_value() of each byte
};
static_assert(sizeof(VoteBins) * kChunkRows * kDefaultWidth % 16 == 0);

__device__ inline int place_in_half_plane(int column, int half) { return (column ^ 4 * half) * kHalfRows; }

// The steps of a tile, whose first block is (row0, col0). All threads of the thread block must call each step.
template <typename Source>
struct DefaultTile {
  static constexpr int kChannels = Source::channels, kPitch = kColorPitch;
  const Source &source;
  const TiledPicture &picture;
  const Rules &rules;
  DefaultTileMemory<kChannels> &memory;
  int row0, col0;
  // The sums of this thread (one bin, one column of cells) for the row of blocks that the last chunk has begun:
  // begun[0] for the upper cell, begun[1] for the lower cell.
  float begun[2] = {};

  // The column and the row of the tile's first pixel.
  __device__ int x0() const { return 8 * col0; }
  __device__ int y0() const { return 8 * row0; }
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }

  __device__ void prepare(const AxisWeights &weights) const {
    list_colors(rules, memory.color_of);
    if (thread() < 32) {
      memory.x_weight[thread() / 16][thread() % 16] = weights.x[thread()];
      memory.y_weight[thread() / 16][thread() % 16] = weights.y[thread()];
    }
  }

  // --- colours ---

  // Mirrors an index into [0, size). Only the first pixel outside the picture matters: it mirrors the second one
  // inside. Pixels further out belong to no block. A picture has more than one row and column.
  __device__ static int mirrored(int i, int size) {
    const int inside = abs(min(i, size));
    return min(inside, 2 * (size - 1) - inside);
  }

  // The pixels that a thread loads of each chunk: one pixel of every row, one pixel of a single row, or nothing.
  struct LoadedColumn {
    int place, x;  // the column in the tile, halo included, and in the picture
    int row;       // the row; -1: all rows; kChunkRows: nothing
  };
  __device__ LoadedColumn loaded_column() const {
    constexpr int kColumns = 64, kOthers = kPitch - kColumns, kFirst = kTileThreads - kColumns;
    const bool all = thread() >= kFirst;
    const int place = all ? thread() - kFirst : kColumns + thread() % kOthers,
              row = all ? -1 : min(thread() / kOthers, kChunkRows);
    return {place, mirrored(x0() + place - 1, picture.width), row};
  }

  // Loads kRows pixels of a column of the tile, from row `first` of the picture on, to the rows of the chunk from `to`
  // on. All loads are issued before the first result is used.
  template <int kRows>
  __device__ void load_rows(const LoadedColumn &column, int first, int to) const {
    typename Source::Pixel pixels[kRows];
    if (first >= 0 && first + kRows <= picture.height) {
#pragma unroll
      for (int k = 0; k < kRows; ++k) pixels[k] = source.fetch(column.x, first + k);
    } else {
#pragma unroll
      for (int k = 0; k < kRows; ++k) pixels[k] = source.fetch(column.x, mirrored(first + k, picture.height));
    }
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      float colors[kChannels];
#pragma unroll
      for (int c = 0; c < kChannels; ++c) colors[c] = memory.color_of[pixels[k].byte(c)];
      memory.colors.store((to + k) * kPitch + column.place, colors);
    }
  }

  // Loads the first two rows of the first chunk.
  __device__ void load_first_rows() const {
    if (const int place = thread() % kPitch, row = thread() / kPitch; row < 2)
      load_rows<1>({place, mirrored(x0() + place - 1, picture.width), 0}, y0() - 1 + row, row);
  }

  // Copies row kChunkRows + k of a chunk, in one column, to the place of row k of the next chunk.
  __device__ void keep_row(const LoadedColumn &column, int k) const {
    float colors[kChannels];
    memory.colors.load((kChunkRows + k) * kPitch + column.place, colors);
    memory.colors.store(k * kPitch + column.place, colors);
  }

  // Loads the rows of a chunk except the first two, which are kept from the previous chunk. The last two warps, which
  // sum no votes at that time, load most columns; each other thread loads one pixel of the remaining columns.
  __device__ void load(const LoadedColumn &column, int chunk) const {
    const int y = y0() + chunk * kChunkRows;
    if (column.row < 0) {
      if (chunk > 0) keep_row(column, 0), keep_row(column, 1);
      // A FrameSource pixel of three channels takes three registers: then only half of the rows are loaded at once.
      constexpr int kAtOnce = sizeof(typename Source::Pixel) > 4 ? kChunkRows / 2 : kChunkRows;
#pragma unroll
      for (int row = 0; row < kChunkRows; row += kAtOnce) load_rows<kAtOnce>(column, y + 1 + row, 2 + row);
    } else if (column.row < kChunkRows) {
      if (chunk > 0 && column.row >= kChunkRows - 2) keep_row(column, column.row - (kChunkRows - 2));
      load_rows<1>(column, y + 1 + column.row, 2 + column.row);
    }
  }

  // --- votes ---

  // Computes and stores the votes of a pixel. If gradients of channels are equally long, the first channel wins; with
  // kTail, the last one wins from the column `tail` of the picture on, as in OpenCV.
  template <bool kTail>
  __device__ void vote_at(int row, int column, int tail) const {
    const int center = (row + 1) * kPitch + column + 1;
    float left[kChannels], right[kChannels], above[kChannels], below[kChannels];
    memory.colors.load(center - 1, left), memory.colors.load(center + 1, right);
    memory.colors.load(center - kPitch, above), memory.colors.load(center + kPitch, below);
    LongestGradient longest{.reverse = kTail && x0() + column >= tail};
#pragma unroll
    for (int c = 0; c < kChannels; ++c) longest.take(c, right[c] - left[c], below[c] - above[c]);
    const Vote vote = vote_of(rules, longest.dx, longest.dy, longest.squared_length);
    memory.votes[vote_place(kDefaultWidth, row, column)] = {vote.first, vote.second};
    const int next = vote.bin + 1 == kDefaultBins ? 0 : vote.bin + 1;
    const int plane = row >= kHalfRows ? kDefaultBins : 0;
    memory.bins[row * kDefaultWidth + column] = {static_cast<std::uint8_t>(plane + vote.bin),
                                                 static_cast<std::uint8_t>(plane + next)};
  }

  // Each pair of warps takes the first 64 columns of three rows; the last pair, which has only two rows left, also
  // takes the remaining 8 columns of all rows.
  template <bool kTail>
  __device__ void vote_all(int tail) const {
    static_assert(kTileThreads == 3 * 64 && kChunkRows == 8 && kDefaultWidth == 72);
    const int across = thread() % 64, down = thread() / 64;
#pragma unroll 1
    for (int k = 0; k < 3; ++k) {
      const bool others = k == 2 && down == 2;
      vote_at<kTail>(others ? across / 8 : 3 * down + k, others ? 64 + across % 8 : across, tail);
    }
  }

  __device__ void vote() const {
    const int tail = first_column_of_tail(rules.variant, picture.width);
    if (kChannels == 1 || x0() + kDefaultWidth <= tail)
      vote_all<false>(tail);
    else
      vote_all<true>(tail);
  }

  // --- sums ---

  // Adds the votes of four pixels to a histogram, from left to right. The byte offset of a sum in memory.sums consists
  // of two bytes: the lowest one is `of_thread`, the place of the thread's histogram in the sums of one bin; the next
  // one is the number of the bin, as VoteBins hold it.
  __device__ void add_votes(int row, int first, const float *weights, unsigned of_thread) const {
    const auto weight = *reinterpret_cast<const float4 *>(weights);
    const float of[4] = {weight.x, weight.y, weight.z, weight.w};
    const auto planes = *reinterpret_cast<const uint2 *>(memory.bins + row * kDefaultWidth + first);
    const float2 *votes = memory.votes + vote_place(kDefaultWidth, row, first);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const unsigned word = k < 2 ? planes.x : planes.y, at = k % 2 * 2;
      const float2 vote = votes[k * vote_quarter(kDefaultWidth)];
      const auto add = [&](unsigned byte, float value) {
        const unsigned offset = __byte_perm(word, of_thread, 0x7704 | byte << 4);
        auto *sum = reinterpret_cast<float *>(reinterpret_cast<char *>(memory.sums) + offset);
        *sum = fmaf(of[k], value, *sum);
      };
      add(at, vote.x);
      add(at + 1, vote.y);
    }
  }

  // Sums the votes along rows. A thread computes one row's histogram of one column of cells, from twelve pixels.
  __device__ void sum_along_rows() const {
    if (thread() >= kDefaultColumns * kChunkRows) return;
    const int row = thread() % kChunkRows, column = thread() / kChunkRows, half = row / kHalfRows,
              cell = column % 2;
    const int place = place_in_half_plane(column, half) + row % kHalfRows;
    float *own = memory.sums + half * kDefaultBins * kHalfPlane + place;
#pragma unroll
    for (int b = 0; b < kDefaultBins; ++b) own[b * kHalfPlane] = 0;
    const float *weights = memory.x_weight[cell] + cell * 4;
#pragma unroll
    for (int i = 0; i < 12; i += 4)
      add_votes(row, 4 * column + i, weights + i, static_cast<unsigned>(place) * sizeof(float));
  }

  // Adds the histograms of chunk `chunk` to the descriptors: the chunk completes one row of blocks and begins the next
  // one. A thread handles one bin of a column of cells. The lower half of the chunk adds nothing to the upper cells of
  // the row that it completes, and the upper half nothing to the lower cells of the next row.
  __device__ void sum_down_rows(int chunk) {
    const int column = thread() % kDefaultColumns, bin = thread() / kDefaultColumns;
    if (bin >= kDefaultBins) return;
    const auto sums_of = [&](int half) {
      return *reinterpret_cast<const float4 *>(memory.sums + (half * kDefaultBins + bin) * kHalfPlane +
                                               place_in_half_plane(column, half));
    };
    const float4 upper = sums_of(0), lower = sums_of(1);
    // Returns `sum` plus the weighted histograms of a half, whose first row is row `first` of the block.
    const auto add_half = [&](int cell, int first, const float4 &sums, float sum) {
      const auto weight = *reinterpret_cast<const float4 *>(memory.y_weight[cell] + first);
      sum = fmaf(weight.y, sums.y, fmaf(weight.x, sums.x, sum));
      return fmaf(weight.w, sums.w, fmaf(weight.z, sums.z, sum));
    };
    if (chunk > 0) {
      float *numbers = memory.blocks[(chunk - 1) & 1] + column / 2 * kDefaultLength +
                       column % 2 * (2 * kDefaultBins) + bin;
      numbers[0] = add_half(0, 8, upper, begun[0]);
      numbers[kDefaultBins] = add_half(1, 12, lower, add_half(1, 8, upper, begun[1]));
    }
    begun[0] = add_half(0, 4, lower, add_half(0, 0, upper, 0.0f));
    begun[1] = add_half(1, 4, lower, 0.0f);
  }

  // --- descriptors ---

  // Normalises a row of blocks and writes it. The last warp does so: four of its lanes work on a descriptor and keep
  // its numbers in registers.
  template <bool kHys>
  __device__ void normalize_row(int row, float *out) const {
    constexpr int kLanes = 4, kNumbers = kDefaultLength / kLanes, kSums = kPartialSums / kLanes;
    const int lane = thread() % kLanes, block = thread() % 32 / kLanes;
    Rules known = rules;
    if (kHys) known.norm = HogNorm::l2_hys;
    // The sum of the terms, in the order of hog_rules.h: sum i of a lane is partial sum lane + kLanes * i.
    const auto sum_of = [](const float(&numbers)[kNumbers], const auto &add) {
      float sums[kSums] = {};
#pragma unroll
      for (int i = 0; i < kNumbers; ++i) sums[i % kSums] = add(numbers[i], sums[i % kSums]);
      return warp_sum((sums[0] + sums[2]) + (sums[1] + sums[3]), kLanes);
    };
    const float *from = memory.blocks[row & 1] + block * kDefaultLength + lane;
    float numbers[kNumbers];
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) numbers[i] = from[kLanes * i];
    const float scale =
        scale_of(known, sum_of(numbers, [&](float v, float sum) { return add_term(known, v, sum); }));
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) numbers[i] = scaled(known, numbers[i], scale);
    float second_scale = 1.0f;
    if (known.norm == HogNorm::l2_hys)
      second_scale =
          second_scale_of(known, sum_of(numbers, [](float v, float sum) { return fmaf(v, v, sum); }));
    if (col0 + block >= picture.cols) return;
    const std::ptrdiff_t stride = picture.place.number_stride;
    float *to = out + picture.place.offset(row0 + row, col0 + block) + lane * stride;
#pragma unroll
    for (int i = 0; i < kNumbers; ++i, to += kLanes * stride) *to = numbers[i] * second_scale;
  }

  __device__ void normalize(int row, float *out) const {
    if (thread() < kTileThreads - 32) return;
    wait_for_kernel_ahead();
    if (rules.norm == HogNorm::l2_hys)
      normalize_row<true>(row, out);
    else
      normalize_row<false>(row, out);
  }
};

// make_tile() (block_tile.cuh) with the default parameters.
template <typename Source, typename Wait>
__device__ void make_default_tile(const Source &source, const TiledPicture &picture, const Rules &any_rules,
                                  int most_rows, const AxisWeights &weights, int tile_index, float *out,
                                  float *shared, const Wait &wait_for_pixels) {
  const Rules rules = with_default_params(any_rules);
  const int tile_y = tile_index / picture.tiles_x, tile_x = tile_index - tile_y * picture.tiles_x;
  const int col0 = tile_x << kDefaultColsLog2, row0 = tile_y * most_rows;
  // At the bottom of the picture a tile may have fewer blocks.
  const int rows = min(most_rows, picture.rows - row0);
  DefaultTile<Source> tile{.source = source,
                           .picture = picture,
                           .rules = rules,
                           .memory = *reinterpret_cast<DefaultTileMemory<Source::channels> *>(shared),
                           .row0 = row0,
                           .col0 = col0};
  tile.prepare(weights);
  wait_for_pixels();
  __syncthreads();
  const auto loaded = tile.loaded_column();
  tile.load_first_rows();
  tile.load(loaded, 0);
  // Two barriers per chunk: its votes are computed during sum_down_rows() of the previous chunk, and summed along rows
  // while the next chunk is loaded. Row r of blocks is complete after chunk r + 1, and normalised two iterations later.
  for (int chunk = 0;; ++chunk) {
    __syncthreads();
    if (chunk > 0 && chunk <= rows + 1) tile.sum_down_rows(chunk - 1);
    if (chunk > 2) tile.normalize(chunk - 3, out);
    if (chunk > rows + 1) break;
    if (chunk <= rows) tile.vote();
    __syncthreads();
    if (chunk < rows) tile.load(loaded, chunk + 1);
    if (chunk <= rows) tile.sum_along_rows();
  }
}

}  // namespace cudavision::hog
