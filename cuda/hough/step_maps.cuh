// SPDX-License-Identifier: LGPL-2.1-or-later
// Bitmaps of the steps that are present (walk_rules.h) for all possible lines: a warp reads 32 steps of a line with one
// load. Reading the edge map itself would take three loads, each from as many rows as the line crosses.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda/common/warp.cuh"
#include "cuda/hough/walk_rules.h"

namespace cudavision::hough {

// Bit `step` of place `at` is set if this step is present: if its pixel or one of the two neighbours across the walk is
// an edge. If steps are columns, a place is a row of the picture, otherwise a column. The places -1 and `places` are
// just outside the picture, but one of the two neighbours of their pixels is inside.
struct StepMap {
  unsigned *words;  // [places + 2][words_of_place]
  int places, words_of_place;

  __device__ unsigned &word(int at, int w) const {
    return words[static_cast<std::ptrdiff_t>(at + 1) * words_of_place + w];
  }
};

// rows: for flat lines, whose steps are columns. columns: for steep lines, whose steps are rows.
struct StepMaps {
  StepMap rows, columns;
};

constexpr int kMapTile = 32;  // the side of a tile in pixels: the bits of a word, and the lanes of a warp

constexpr int words_of_map(int places, int steps) { return (places + 2) * divide_up(steps, kMapTile); }
constexpr std::size_t map_tiles(Size size) {
  return static_cast<std::size_t>(divide_up(size.width, kMapTile)) *
         static_cast<std::size_t>(divide_up(size.height, kMapTile));
}

// Returns a word whose bit i is the argument of lane i.
__device__ inline unsigned word_of_lanes(bool bit) { return __ballot_sync(kFullWarp, bit); }

// The edges of a tile: lane i holds row i in `row`, and all lanes hold the rows above and below the tile. Bit x is
// column x of the tile.
struct TileEdges {
  unsigned row = 0, above = 0, below = 0;
};
__device__ inline TileEdges edges_of_tile(ImageView<const std::uint8_t> edges, int x0, int y0, int lane) {
  constexpr int kAtOnce = 8;  // rows whose loads overlap
  const int x = x0 + lane;
  const auto load = [&](int y) {
    return x < edges.width && y >= 0 && y < edges.height ? edges.row(y)[x] : std::uint8_t{0};
  };
  TileEdges tile;
  tile.above = word_of_lanes(load(y0 - 1) != 0);
  tile.below = word_of_lanes(load(y0 + kMapTile) != 0);
#pragma unroll 1
  for (int first = 0; first < kMapTile; first += kAtOnce) {
    std::uint8_t pixel[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) pixel[i] = load(y0 + first + i);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (const unsigned word = word_of_lanes(pixel[i] != 0); lane == first + i) tile.row = word;
  }
  return tile;
}

// Writes the words of one tile to both maps. All lanes of the warp must call.
__device__ inline void map_tile(const StepMaps &maps, ImageView<const std::uint8_t> edges, int tx, int ty,
                                int lane) {
  const int x0 = tx * kMapTile, y0 = ty * kMapTile, x = x0 + lane, y = y0 + lane;
  const auto [row, above, below] = edges_of_tile(edges, x0, y0, lane);

  const unsigned upper = __shfl_up_sync(kFullWarp, row, 1), lower = __shfl_down_sync(kFullWarp, row, 1);
  if (y < edges.height)
    maps.rows.word(y, tx) = row | (lane == 0 ? above : upper) | (lane == kMapTile - 1 ? below : lower);
  if (y == 0) maps.rows.word(-1, tx) = row;
  if (y == edges.height - 1) maps.rows.word(edges.height, tx) = row;

  const auto is_edge = [&](int column) {
    return column >= 0 && column < edges.width && y < edges.height && edges.row(y)[column] != 0;
  };
  const unsigned across = row | row << 1 | row >> 1 | (is_edge(x0 - 1) ? 1u : 0u) |
                          (is_edge(x0 + kMapTile) ? 1u << (kMapTile - 1) : 0u);
  unsigned column = 0;
#pragma unroll 8
  for (int i = 0; i < kMapTile; ++i)
    if (const unsigned word = word_of_lanes((across >> i & 1) != 0); lane == i) column = word;
  if (x < edges.width) maps.columns.word(x, ty) = column;
  const unsigned first = word_of_lanes((row & 1) != 0);
  if (x == 0) maps.columns.word(-1, ty) = first;
  const int last_column = edges.width - 1 - x0;  // relative to the tile
  const unsigned last = word_of_lanes(last_column < kMapTile && (row >> (last_column % kMapTile) & 1) != 0);
  if (lane == last_column) maps.columns.word(edges.width, ty) = last;
}

// Writes both maps. The warps of the grid share the tiles. kThreads: the number of threads of a block.
template <int kThreads>
__device__ void map_steps(const StepMaps &maps, ImageView<const std::uint8_t> edges) {
  constexpr int kWarps = kThreads / 32;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int warp = static_cast<int>(blockIdx.x) * kWarps + thread / 32,
            warps = static_cast<int>(gridDim.x) * kWarps;
  const int tiles_x = divide_up(edges.width, kMapTile), tiles = tiles_x * divide_up(edges.height, kMapTile);
  for (int tile = warp; tile < tiles; tile += warps)
    map_tile(maps, edges, tile % tiles_x, tile / tiles_x, lane);
}

// The number of words of steps that a lane loads at once in mark_steps().
constexpr int kStepWords = 8;

// Sets the bits of `present` for the steps of a line that are present; adds a word of zeros. All lanes must call.
__device__ inline void mark_steps(const StepMaps &maps, const LineWalk &walk, int lane, unsigned *present) {
  const StepMap &map = walk.flat ? maps.rows : maps.columns;
  const int words = divide_up(walk.steps, 32);
  for (int first = 0; first < words; first += kStepWords) {
    unsigned found[kStepWords];
    long long position = walk.position(32 * first + lane);
#pragma unroll
    for (int k = 0; k < kStepWords; ++k, position += 32 * walk.slope) {
      const int at = static_cast<int>(position >> kFractionBits);
      const bool is_in_map = first + k < words && at >= -1 && at <= map.places;
      found[k] = is_in_map ? map.word(at, first + k) : 0;
    }
#pragma unroll
    for (int k = 0; k < kStepWords; ++k) {
      const unsigned bits = word_of_lanes((found[k] >> lane & 1) != 0);
      if (lane == 0 && first + k < words) present[first + k] = bits;
    }
  }
  if (lane == 0) present[words] = 0;
  __syncwarp();
}

}  // namespace cudavision::hough
