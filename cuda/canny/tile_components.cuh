// SPDX-License-Identifier: LGPL-2.1-or-later
// Hysteresis inside one tile, by connected components.
//
// The set pixels of a cell of 2 x 2 pixels touch one another, so that each cell belongs to one component.
// Adjacent cells of a row that touch form a chain; bit operations on words of 32 cells find the chains of a
// row. Chains with a strong pixel are edges and need no further work; most chains are of this kind. The other
// (weak) chains are numbered from 1 in row-major order. One thread per chain unites it by union-find with the
// chains of the row above that it touches. Chains that touch a strong chain are united with chain 0, which
// represents all strong chains.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/canny/tile_gradient.cuh"
#include "cuda/canny/tile_graph.cuh"
#include "cuda/common/warp.cuh"

namespace cudavision::canny {

constexpr int kStripCells = kStripRows / 2;  // rows of cells per warp
constexpr int kMaxChains = 1 + kMaxCells;    // chains per tile, chain 0 included
constexpr unsigned kStrongChain = 0;

// The state of a component, in the entry of its root: kTouchesBorder if it touches the tile's border, and 1 +
// the index of its node in the bits from kNodeShift on (0 if it has no node).
constexpr unsigned kTouchesBorder = 1;
constexpr int kNodeShift = 8;

// The rows of a tile in shared memory. Arrays of kCells words have one word per row of cells, and one bit per
// cell: bit x is cell x.
struct TileRows {
  PixelRow pixels[kTile];
  unsigned strong[kCells];    // the cell has a strong pixel; after link_rows(): its chain has one
  unsigned linked[kCells];    // the cell continues the chain of cell x - 1
  unsigned heads[kCells];     // the cell is the first one of a weak chain
  unsigned border[kCells];    // the cell has a pixel on the tile's border
  unsigned near[kCells];      // the cell touches a strong chain of the row above or below
  unsigned up[kCells];        // the cell must be united with cell x of the row above
  unsigned up_left[kCells];   // the cell must be united with cell x - 1 of the row above
  unsigned up_right[kCells];  // the cell must be united with cell x + 1 of the row above
  int first_chain[kCells];    // the number of the first weak chain of the row
  int chain_end;              // 1 + the number of the last weak chain
  int node_count, cell_count;
};

// The weak chains of a tile in shared memory, as structure of arrays; index 0 is kStrongChain.
struct ChainMemory {
  unsigned parent[kMaxChains];     // union-find forest
  unsigned state[kMaxChains];      // of the component, in the entry of its root
  unsigned root[kMaxChains];       // when all unions are done
  std::uint16_t head[kMaxChains];  // the position (x, y) of the first cell, as kCells * y + x
};

// A word with bits 0 to x set, for x in [0, 31].
__device__ inline unsigned up_to(int x) { return ~0u >> (31 - x); }

// The number of the weak chain that cell (x, y) belongs to.
__device__ inline int chain_at(const TileRows &rows, int x, int y) {
  return rows.first_chain[y] + __popc(rows.heads[y] & up_to(x)) - 1;
}
// The cells of the chain whose first cell is x.
__device__ inline unsigned cells_of_chain(unsigned linked, int x) {
  const unsigned others = ~linked & ~up_to(x);
  return (others - 1) & ~others & ~(up_to(x) >> 1);
}

// The cells of a lane: kStripCells cells, one below the other.
struct LaneCells {
  Maxima maxima;
  int x, y;  // position of the first cell in the tile, in cells

  __device__ unsigned pixels(int k) const { return maxima.pixels >> (4 * k) & 15; }
};

// Returns `cells` and all cells that follow them in their chains. The carry of the sum runs to the end of a
// chain.
__device__ inline unsigned spread_right(unsigned cells, unsigned linked) {
  const unsigned next = cells << 1 & linked;
  return cells | next | (((linked + next) ^ linked) & linked);
}
// Returns all cells of the chains that hold `cells`.
__device__ inline unsigned spread_over_chains(unsigned cells, unsigned linked) {
  return spread_right(cells, linked) | __brev(spread_right(__brev(cells), __brev(linked >> 1)));
}

// Computes the words of `rows` from the pixels and from the strong cells. Called by one warp; lane y handles
// row y.
__device__ inline void link_rows(TileRows &rows, int y) {
  const auto [upper_left, upper_right] = rows.pixels[2 * y];
  const auto [lower_left, lower_right] = rows.pixels[2 * y + 1];
  const unsigned upper = upper_left | upper_right, lower = lower_left | lower_right,
                 left = upper_left | lower_left, right = upper_right | lower_right;
  const unsigned linked = left & right << 1, strong = spread_over_chains(rows.strong[y], linked),
                 heads = (left | right) & ~linked & ~strong;
  rows.linked[y] = linked;
  rows.strong[y] = strong;
  rows.heads[y] = heads;
  rows.border[y] =
      (y == 0 ? upper : 0) | (y == kCells - 1 ? lower : 0) | (left & 1) | (right & 1u << (kCells - 1));

  const unsigned above_linked = __shfl_up_sync(kFullWarp, linked, 1),
                 above_strong = __shfl_up_sync(kFullWarp, strong, 1);
  const auto [above_left, above_right] = y == 0 ? PixelRow{0, 0} : rows.pixels[2 * y - 1];
  // Pairs of cells that touch. A pair is left out if another pair and the links in the two rows imply it.
  const unsigned all_up = upper & (above_left | above_right);
  const unsigned up = all_up & ~(linked & above_linked & all_up << 1);
  const unsigned up_left = upper_left & above_right << 1 & ~(all_up & above_linked) & ~(linked & all_up << 1);
  const unsigned up_right =
      upper_right & above_left >> 1 & ~(all_up & above_linked >> 1) & ~(linked >> 1 & all_up >> 1);
  const unsigned near_above =
      (up & above_strong) | (up_left & above_strong << 1) | (up_right & above_strong >> 1);
  const unsigned near_here =
      (up & strong) | (up_left & strong) >> 1 | (up_right & strong) << 1;  // cells of row y - 1
  const unsigned near_below = __shfl_down_sync(kFullWarp, near_here, 1);
  rows.near[y] = near_above | (y == kCells - 1 ? 0 : near_below);
  rows.up[y] = up & ~strong & ~above_strong;
  rows.up_left[y] = up_left & ~strong & ~(above_strong << 1);
  rows.up_right[y] = up_right & ~strong & ~(above_strong >> 1);

  const int count = __popc(heads), last = warp_inclusive_sum(count, y);
  rows.first_chain[y] = 1 + last - count;
  if (y == kCells - 1) rows.chain_end = 1 + last;
}

// Makes each weak chain a set of its own, or a member of set kStrongChain if it touches a strong chain.
__device__ inline void make_chains(const TileRows &rows, ChainMemory &chains, const LaneCells &cells) {
  if (threadIdx.x == 0) chains.parent[kStrongChain] = kStrongChain;
#pragma unroll
  for (int k = 0; k < kStripCells; ++k) {
    const int y = cells.y + k;
    if ((rows.heads[y] >> cells.x & 1) == 0) continue;
    const int chain = chain_at(rows, cells.x, y);
    const unsigned members = cells_of_chain(rows.linked[y], cells.x);
    chains.head[chain] = static_cast<std::uint16_t>(kCells * y + cells.x);
    chains.parent[chain] = (rows.near[y] & members) != 0 ? kStrongChain : static_cast<unsigned>(chain);
    chains.state[chain] = (rows.border[y] & members) != 0 ? kTouchesBorder : 0;
  }
}

// Unites a weak chain with the weak chains of the row above that it touches. A single loop performs one step
// of a union per iteration, so that a lane can start its next union while other lanes are still busy with
// theirs.
__device__ inline void unite_with_row_above(const TileRows &rows, ChainMemory &chains, int chain) {
  const int x = chains.head[chain] % kCells, y = chains.head[chain] / kCells;
  const unsigned members = cells_of_chain(rows.linked[y], x);
  unsigned up = rows.up[y] & members, up_left = rows.up_left[y] & members,
           up_right = rows.up_right[y] & members;
  const auto take = [](unsigned &pairs) {
    const int first = __ffs(static_cast<int>(pairs)) - 1;
    pairs &= pairs - 1;
    return first;
  };
  for (unsigned a = 0, b = 0;;) {
    if (a == b) {
      if ((up | up_left | up_right) == 0) return;
      const int above = up != 0 ? take(up) : up_left != 0 ? take(up_left) - 1 : take(up_right) + 1;
      a = static_cast<unsigned>(chain);
      b = static_cast<unsigned>(chain_at(rows, above, y - 1));
    }
    unite_step(chains.parent, a, b);
  }
}

// Stores the root of a chain, and passes kTouchesBorder on to the root.
__device__ inline void find_root_of(ChainMemory &chains, int chain) {
  const unsigned root = find_root(chains.parent, static_cast<unsigned>(chain));
  chains.root[chain] = root;
  if (root != kStrongChain && root != static_cast<unsigned>(chain) && chains.state[chain] != 0)
    atomicOr(&chains.state[root], kTouchesBorder);
}

// Makes a node of the graph if the chain is the root of a weak component that touches the tile's border.
__device__ inline void make_node(TileRows &rows, ChainMemory &chains, int chain, const TileGraph &graph,
                                 int tile) {
  if (chains.root[chain] != static_cast<unsigned>(chain) || chains.state[chain] != kTouchesBorder) return;
  const int index = atomicAdd(&rows.node_count, 1);
  const unsigned node = graph.node(tile, index);
  graph.parent[node] = node;
  chains.state[chain] = kTouchesBorder | static_cast<unsigned>(index + 1) << kNodeShift;
}

// Returns the code of the pixels of the lane's cell k (see Side). Appends the cell to the graph if it is
// undecided.
__device__ inline unsigned resolve_cell(TileRows &rows, const ChainMemory &chains, const LaneCells &cells,
                                        int k, const TileGraph &graph, int tile) {
  const unsigned pixels = cells.pixels(k);
  const int x = cells.x, y = cells.y + k;
  const bool strong = (rows.strong[y] >> x & 1) != 0;
  if (strong || pixels == 0) return strong ? kStrong : kNoEdge;
  const unsigned root = chains.root[chain_at(rows, x, y)];
  if (root == kStrongChain) return kStrong;
  const unsigned code = chains.state[root] >> kNodeShift;
  if (code != kNoEdge)
    graph.cells_of(tile)[atomicAdd(&rows.cell_count, 1)] =
        UndecidedCell{x, y, pixels, static_cast<int>(code) - 1}.pack();
  return code;
}

// Writes the codes of the two pixels that cell `at` has on a side: the code if the pixel is set, otherwise
// kNoEdge.
__device__ inline void mark_border(const TileGraph &graph, int tile, Side side, int at, bool first,
                                   bool second, unsigned code) {
  *reinterpret_cast<std::uint16_t *>(graph.side(tile, side) + 2 * at) =
      static_cast<std::uint16_t>((first ? code : 0) | (second ? code << 8 : 0));
}
// Writes the codes of all pixels that the lane's cells have on the tile's border.
__device__ inline void mark_borders(const TileGraph &graph, int tile, const LaneCells &cells,
                                    const unsigned (&code)[kStripCells]) {
  constexpr int kLast = kStripCells - 1;
  const auto has = [&](int k, unsigned pixel) { return (cells.pixels(k) & pixel) != 0; };
  if (cells.y == 0) mark_border(graph, tile, kTop, cells.x, has(0, 1), has(0, 2), code[0]);
  if (cells.y + kLast == kCells - 1)
    mark_border(graph, tile, kBottom, cells.x, has(kLast, 4), has(kLast, 8), code[kLast]);
  if (cells.x != 0 && cells.x != kCells - 1) return;
#pragma unroll
  for (int k = 0; k < kStripCells; ++k)
    if (cells.x == 0)
      mark_border(graph, tile, kLeft, cells.y + k, has(k, 1), has(k, 4), code[k]);
    else
      mark_border(graph, tile, kRight, cells.y + k, has(k, 2), has(k, 8), code[k]);
}

// Performs hysteresis inside the tile. Components with a strong pixel become edges. Weak components that do
// not touch the tile's border are dropped. The others become nodes of the graph, and their cells are stored
// there. All threads of the block must call it, after rows.pixels has been written. Returns the edges of the
// lane, in the bit order of Maxima::pixels.
__device__ inline unsigned resolve_in_tile(TileRows &rows, ChainMemory &chains, Maxima maxima,
                                           const TileGraph &graph, int tile) {
  const int thread = static_cast<int>(threadIdx.x);
  const LaneCells cells{maxima, thread % 32, thread / 32 * kStripCells};
  const auto for_each_chain = [&](const auto &visit) {
    for (int chain = 1 + thread; chain < rows.chain_end; chain += kTileThreads) visit(chain);
    __syncthreads();
  };
  if (thread == 0) rows.node_count = rows.cell_count = 0;
#pragma unroll
  for (int k = 0; k < kStripCells; ++k) {
    const unsigned strong = __ballot_sync(kFullWarp, (maxima.strong_cells >> k & 1) != 0);
    if (cells.x == 0) rows.strong[cells.y + k] = strong;
  }
  __syncthreads();
  if (thread < 32) link_rows(rows, thread);
  __syncthreads();
  make_chains(rows, chains, cells);
  __syncthreads();
  for_each_chain([&](int chain) { unite_with_row_above(rows, chains, chain); });
  for_each_chain([&](int chain) { find_root_of(chains, chain); });
  for_each_chain([&](int chain) { make_node(rows, chains, chain, graph, tile); });
  unsigned edges = 0, code[kStripCells];
#pragma unroll
  for (int k = 0; k < kStripCells; ++k) {
    code[k] = resolve_cell(rows, chains, cells, k, graph, tile);
    edges |= code[k] == kStrong ? cells.pixels(k) << (4 * k) : 0;
  }
  mark_borders(graph, tile, cells, code);
  __syncthreads();
  if (thread == 0) graph.cell_count[tile] = rows.cell_count;
  return edges;
}

}  // namespace cudavision::canny
