// SPDX-License-Identifier: LGPL-2.1-or-later
// Hysteresis inside one tile: connected components of its bitmap, by union-find over horizontal runs in
// shared memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "canny/tile_graph.cuh"
#include "common/warp.cuh"

namespace cudavision::canny {

using Word = unsigned long long;  // a row of a tile, pixel x in bit x

// What is known of a component, in the entry of its root.
constexpr unsigned kHasStrong = 1, kTouchesBorder = 2;
constexpr int kNodeShift = 8;  // bits 8 and up: 1 + the index of its node

struct ComponentMemory {
  unsigned parent[kMaxRuns];
  unsigned about[kMaxRuns];
};

struct TileBitmaps {
  Word mask[kTile];      // local maxima above the low threshold
  Word strong[kTile];    // and above the high one
  Word edges[kTile];     // what is found to be an edge
  int first_run[kTile];  // the number of the first run of each row: runs are numbered in raster order
  int node_count, run_count;
  std::uint8_t border[kSides][kTile];
};

__device__ inline Word run_starts(Word row) { return row & ~(row << 1); }
__device__ inline Word bits_below(int x) { return (Word{1} << x) - 1; }  // x in [0, 63]
__device__ inline Word bits_of(int x, int length) {                      // length in [1, 64 - x]
  return (~Word{0} >> (64 - length)) << x;
}

// Calls visit(run number, x, length) for the runs of row y that begin in [16 quarter, 16 quarter + 16).
template <typename Visit>
__device__ inline void for_each_run(const TileBitmaps &tile, int y, int quarter, const Visit &visit) {
  const Word row = tile.mask[y], starts = run_starts(row);
  for (Word todo = starts & (Word{0xffff} << (16 * quarter)); todo != 0; todo &= todo - 1) {
    const int x = __ffsll(static_cast<long long>(todo)) - 1;
    const Word after = ~(row >> x);
    const int length = after == 0 ? 64 : __ffsll(static_cast<long long>(after)) - 1;
    visit(tile.first_run[y] + __popcll(starts & bits_below(x)), x, length);
  }
}

// Numbers the runs. One warp: each lane takes two rows.
__device__ inline void number_runs(TileBitmaps &tile, int lane) {
  const int first = __popcll(run_starts(tile.mask[2 * lane]));
  const int both = first + __popcll(run_starts(tile.mask[2 * lane + 1]));
  const int before = warp_inclusive_sum(both, lane) - both;
  tile.first_run[2 * lane] = before;
  tile.first_run[2 * lane + 1] = before + first;
}

// Unites run number `run` with the runs of the row above that touch it, diagonals included.
__device__ inline void unite_with_row_above(const TileBitmaps &tile, unsigned *parent, int y, int run, int x,
                                            int length) {
  const Word bits = bits_of(x, length), above = tile.mask[y - 1];
  const Word touched = above & (bits | bits << 1 | bits >> 1);
  for (Word todo = run_starts(touched); todo != 0;
       todo &= todo - 1) {  // an interval meets each run at most once
    const int at = __ffsll(static_cast<long long>(todo)) - 1;
    const int other =
        tile.first_run[y - 1] + __popcll(run_starts(above) & (bits_below(at) | Word{1} << at)) - 1;
    unite(parent, static_cast<unsigned>(run), static_cast<unsigned>(other));
  }
}

__device__ inline void mark_border(TileBitmaps &tile, int y, int x, int length, std::uint8_t code) {
  if (y == 0 || y == kTile - 1)
    for (int i = x; i < x + length; ++i) tile.border[y == 0 ? kTop : kBottom][i] = code;
  if (x == 0) tile.border[kLeft][y] = code;
  if (x + length == kTile) tile.border[kRight][y] = code;
}

// Settles what the tile can settle alone: components with a strong pixel become edges, components that touch
// neither a strong pixel nor the tile's border are dropped, the others become nodes of the graph and their
// runs are kept. All 4 * kTile threads of the block: thread 4 y + q takes the runs that begin in quarter q of
// row y.
__device__ inline void settle_tile(TileBitmaps &tile, ComponentMemory &memory, const TileGraph &graph,
                                   int tile_index) {
  const int thread = static_cast<int>(threadIdx.x), y = thread / 4, quarter = thread % 4;
  if (thread < 32) number_runs(tile, thread);
  tile.border[quarter][y] = kNoEdge;
  if (thread < kTile) tile.edges[thread] = 0;
  if (thread == 0) tile.node_count = tile.run_count = 0;
  __syncthreads();

  for_each_run(tile, y, quarter, [&](int run, int, int) {
    memory.parent[run] = static_cast<unsigned>(run);
    memory.about[run] = 0;
  });
  __syncthreads();

  if (y > 0)
    for_each_run(tile, y, quarter, [&](int run, int x, int length) {
      unite_with_row_above(tile, memory.parent, y, run, x, length);
    });
  __syncthreads();

  for_each_run(tile, y, quarter, [&](int run, int x, int length) {
    const bool strong = (tile.strong[y] & bits_of(x, length)) != 0;
    const bool border = y == 0 || y == kTile - 1 || x == 0 || x + length == kTile;
    const unsigned about = (strong ? kHasStrong : 0) | (border ? kTouchesBorder : 0);
    if (about != 0) atomicOr(&memory.about[find_root(memory.parent, static_cast<unsigned>(run))], about);
  });
  __syncthreads();

  for_each_run(tile, y, quarter, [&](int run, int, int) {
    if (memory.parent[run] != static_cast<unsigned>(run) || memory.about[run] != kTouchesBorder) return;
    const int index = atomicAdd(&tile.node_count, 1);
    const unsigned node = graph.node(tile_index, index);
    graph.parent[node] = node;
    memory.about[run] = kTouchesBorder | static_cast<unsigned>(index + 1) << kNodeShift;
  });
  __syncthreads();

  for_each_run(tile, y, quarter, [&](int run, int x, int length) {
    const unsigned about = memory.about[find_root(memory.parent, static_cast<unsigned>(run))];
    const int node = static_cast<int>(about >> kNodeShift) - 1;
    if ((about & kHasStrong) != 0) {
      atomicOr(&tile.edges[y], bits_of(x, length));
      mark_border(tile, y, x, length, kStrong);
    } else if (node >= 0) {
      graph.runs_of(tile_index)[atomicAdd(&tile.run_count, 1)] = Run{x, y, length, node}.pack();
      mark_border(tile, y, x, length, static_cast<std::uint8_t>(node + 1));
    }
  });
  __syncthreads();

  graph.side(tile_index, static_cast<Side>(quarter))[y] = tile.border[quarter][y];
  if (thread == 0) graph.run_count[tile_index] = tile.run_count;
}

}  // namespace cudavision::canny
