// SPDX-License-Identifier: LGPL-2.1-or-later
// The tiles of HOG blocks that thread blocks work on, and the layout of a tile in shared memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/hog/hog_rules.h"

namespace cudavision::hog {

constexpr int kTileThreads = 192;
constexpr int kChunkRows = 8;  // rows of pixels that a tile processes at a time: a chunk
// How many tiles a multiprocessor of a large device runs at once, limited by registers: in make_blocks_kernel (hog.cu)
// and in make_level_blocks_kernel (device_levels.cuh).
constexpr int kFrameTilesAtOnce = 5;
constexpr int level_tiles_at_once(bool default_params) { return default_params ? 6 : 5; }

// axis_weights_x() and axis_weights_y() in device memory.
struct AxisWeights {
  const float *x, *y;
};

// The layout of the blocks in memory: block (row, col) begins at the element offset(row, col), and its
// numbers are number_stride elements apart.
struct BlockPlace {
  std::ptrdiff_t first, row_stride, col_stride, number_stride;

  CUDAVISION_HOST_DEVICE std::ptrdiff_t offset(int row, int col) const {
    return first + row * row_stride + col * col_stride;
  }
};

struct TilePlan {
  int cols_log2, rows;  // a tile has 1 << cols_log2 columns and `rows` rows of blocks
  int width;            // of the tile, in pixels
  std::size_t shared_bytes;
};

constexpr int kDefaultBins = 9, kDefaultLength = 4 * kDefaultBins;

// Replaces the variant and all sizes by their defaults. A kernel compiled with kDefaultParams applies this to
// its parameters: its trip counts are then constants.
CUDAVISION_HOST_DEVICE inline Rules with_default_params(Rules rules) {
  rules.variant = HogVariant::opencv;
  rules.cell = {8, 8}, rules.block = {16, 16}, rules.stride = {8, 8};
  rules.cells_x = rules.cells_y = 2;
  rules.bins = kDefaultBins, rules.length = kDefaultLength;
  rules.unit = 1;
  return rules;
}

// With the default parameters, a tile has 1 << kDefaultColsLog2 columns of blocks and is kDefaultWidth pixels wide.
constexpr int kDefaultColsLog2 = 3, kDefaultWidth = ((1 << kDefaultColsLog2) - 1) * 8 + 16;

// The sizes of a picture and the layout of its blocks.
struct TiledPicture {
  int width, height;  // pixels
  int rows, cols;     // blocks
  int tiles_x;        // tiles in a row
  BlockPlace place;
};

// The two bins that a pixel votes for. In a DefaultTile, bins of the lower four rows of a chunk begin at kDefaultBins.
struct VoteBins {
  std::uint8_t first, second;
};

// The layout of a chunk's votes, in kChunkRows * vote_pitch(width) places of two floats. In a row, votes of columns
// that are 4 apart are neighbours in memory; the four groups of such columns are vote_quarter(width) places apart. This
// avoids bank conflicts with the default parameters: the threads of a half-warp write votes of 16 successive columns,
// and read votes of eight rows at two columns that are 4 apart. Either way they access all 32 banks, because 20 places
// are 40 banks (8 modulo 32), and 82 places are 164 banks (4 modulo 32).
CUDAVISION_HOST_DEVICE constexpr int vote_quarter(int width) { return (width + 3) / 4 + 2; }
CUDAVISION_HOST_DEVICE constexpr int vote_pitch(int width) { return 4 * vote_quarter(width) + 2; }
static_assert(vote_quarter(kDefaultWidth) == 20 && vote_pitch(kDefaultWidth) == 82);
CUDAVISION_HOST_DEVICE inline int vote_place(int width, int row, int column) {
  return row * vote_pitch(width) + column % 4 * vote_quarter(width) + column / 4;
}

// Computes color_value() of each byte.
__device__ inline void list_colors(const Rules &rules, float *color_of) {
  for (int byte = static_cast<int>(threadIdx.x); byte < 256; byte += kTileThreads)
    color_of[byte] = color_value(rules, static_cast<float>(byte));
}

}  // namespace cudavision::hog
