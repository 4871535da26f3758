// SPDX-License-Identifier: LGPL-2.1-or-later
// Hysteresis inside one tile, by connected components.
//
// The set pixels of a cell of 2 x 2 pixels touch one another, so that each cell belongs to one component. Adjacent
// cells of a row that touch form a chain; bit operations on words of 32 cells find the chains of a row. Chains with a
// strong pixel are edges and need no further work; most chains are of this kind. The other (weak) chains are numbered
// from 1 in row-major order. One thread per chain unites it by union-find with the chains of the row above that it
// touches. Chains that touch a strong chain are united with chain 0, which represents all strong chains.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/canny/tile_gradient.cuh"
#include "cuda/canny/tile_graph.cuh"
#include "cuda/common/acquire_release.cuh"
#include "cuda/common/warp.cuh"

namespace cudavision::canny {

constexpr int kMaxChains = 1 + kMaxCells;  // chains per tile, chain 0 included
constexpr unsigned kStrongChain = 0;

// The bits of ChainMemory::state, which holds the state of a component in the entry of its root: kTouchesBorder if it
// touches the tile's border, and 1 + the index of its node in the bits from kNodeShift on (0 if it has no node).
constexpr unsigned kTouchesBorder = 1;
constexpr int kNodeShift = 8;

// The rows of a tile in shared memory. Arrays of kCells words have one word per row of cells, and one bit per
// cell: bit x is cell x. TileMaxima::strong is extended: link_rows() sets the cells of chains with a strong
// pixel, and find_root_of() those of the chains that are connected to such a chain.
struct TileRows : TileMaxima {
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
  unsigned state[kMaxChains];      // the state of the component, in the entry of its root
  unsigned root[kMaxChains];       // the root of each chain's set, stored when all unions are done
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

// The position of a cell in the tile, in cells.
struct CellPosition {
  int x, y;
};
// The first cell of a weak chain.
__device__ inline CellPosition head_of(const ChainMemory &chains, int chain) {
  return {chains.head[chain] % kCells, chains.head[chain] / kCells};
}

// Returns `cells` and all cells that follow them in their chains. The carry of the sum runs to the end of a chain.
__device__ inline unsigned spread_right(unsigned cells, unsigned linked) {
  const unsigned next = cells << 1 & linked;
  return cells | next | (((linked + next) ^ linked) & linked);
}
// Returns all cells of the chains that hold `cells`.
__device__ inline unsigned spread_over_chains(unsigned cells, unsigned linked) {
  return spread_right(cells, linked) | __brev(spread_right(__brev(cells), __brev(linked >> 1)));
}

// Computes the other words of `rows` from its pixels and strong cells. Called by one warp; lane y handles row y.
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
  // Pairs of touching cells of this row and the row above, except those that another pair and the links imply.
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

// Makes each weak chain (a run of linked cells of a row) a set of its own, or a member of set kStrongChain if it
// touches a strong chain. A thread handles the chains that start in its part of a row.
__device__ inline void make_chains(const TileRows &rows, ChainMemory &chains) {
  constexpr int kSharers = kTileThreads / kCells, kShare = kCells / kSharers;
  const int thread = static_cast<int>(threadIdx.x), y = thread / kSharers;
  if (thread == 0) chains.parent[kStrongChain] = kStrongChain;
  unsigned heads = rows.heads[y] & ((1u << kShare) - 1) << (thread % kSharers * kShare);
  for (; heads != 0; heads &= heads - 1) {
    const int x = __ffs(static_cast<int>(heads)) - 1, chain = chain_at(rows, x, y);
    const unsigned members = cells_of_chain(rows.linked[y], x);
    chains.head[chain] = static_cast<std::uint16_t>(kCells * y + x);
    chains.parent[chain] = (rows.near[y] & members) != 0 ? kStrongChain : static_cast<unsigned>(chain);
    chains.state[chain] = (rows.border[y] & members) != 0 ? kTouchesBorder : 0;
  }
}

// Unites a weak chain with the weak chains of the row above that it touches. A single loop performs one step of a union
// per iteration, so that a lane can start its next union while other lanes are still busy with theirs.
__device__ inline void unite_with_row_above(const TileRows &rows, ChainMemory &chains, int chain) {
  const auto [x, y] = head_of(chains, chain);
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

// Stores the root of a chain. If it is kStrongChain, marks the cells of the chain as strong; otherwise passes the
// chain's kTouchesBorder on to the root.
__device__ inline void find_root_of(TileRows &rows, ChainMemory &chains, int chain) {
  const unsigned root = find_root(chains.parent, static_cast<unsigned>(chain));
  chains.root[chain] = root;
  if (root == kStrongChain) {
    const auto [x, y] = head_of(chains, chain);
    atomicOr(&rows.strong[y], cells_of_chain(rows.linked[y], x));
  } else if (root != static_cast<unsigned>(chain) && chains.state[chain] != 0) {
    atomicOr(&chains.state[root], kTouchesBorder);
  }
}

// Makes a node of the graph if the chain is the root of a weak component that touches the tile's border.
__device__ inline void make_node(TileRows &rows, ChainMemory &chains, int chain, const TileGraph &graph,
                                 int tile) {
  if (chains.root[chain] != static_cast<unsigned>(chain) || chains.state[chain] != kTouchesBorder) return;
  const int index = atomicAdd(&rows.node_count, 1);
  const unsigned node = graph.node(tile, index);
  // A block that follows links of other tiles to this node has not acquired this write. By the axioms of PTX alone, its
  // atomicCAS might still read the older value. It cannot where all atomics of a device act on the one copy of a word
  // in the L2 cache, because this write arrives there before the link to the node does. An atomicCAS that acquires and
  // releases would order them everywhere.
  relaxed_store(&graph.parent[node], node);
  chains.state[chain] = kTouchesBorder | static_cast<unsigned>(index + 1) << kNodeShift;
}

// Appends the cells of a chain to the graph if they are undecided.
__device__ inline void store_cells(TileRows &rows, const ChainMemory &chains, int chain,
                                   const TileGraph &graph, int tile) {
  const unsigned root = chains.root[chain];
  const int node = root == kStrongChain ? 0 : static_cast<int>(chains.state[root] >> kNodeShift);
  if (node == 0) return;
  const auto [head, y] = head_of(chains, chain);
  const auto [upper_left, upper_right] = rows.pixels[2 * y];
  const auto [lower_left, lower_right] = rows.pixels[2 * y + 1];
  unsigned members = cells_of_chain(rows.linked[y], head);
  unsigned *cell = graph.cells_of(tile) + atomicAdd(&rows.cell_count, __popc(members));
  for (; members != 0; members &= members - 1) {
    const int x = __ffs(static_cast<int>(members)) - 1;
    const unsigned pixels = (upper_left >> x & 1) | (upper_right >> x & 1) << 1 | (lower_left >> x & 1) << 2 |
                            (lower_right >> x & 1) << 3;
    *cell++ = UndecidedCell{x, y, pixels, node - 1}.pack();
  }
}

// Writes the codes (see Side) of the pixels on the tile's border. A warp handles a side, and a lane two
// pixels of it, which belong to one cell.
__device__ inline void mark_border(const TileRows &rows, const ChainMemory &chains, const TileGraph &graph,
                                   int tile) {
  const int at = static_cast<int>(threadIdx.x) % kCells;
  const auto side = static_cast<Side>(static_cast<int>(threadIdx.x) / kCells);
  if (side >= kSides) return;
  const bool across = side == kTop || side == kBottom, after = side == kBottom || side == kRight;
  const int x = across ? at : after ? kCells - 1 : 0, y = across ? after ? kCells - 1 : 0 : at;
  const auto [upper_left, upper_right] = rows.pixels[2 * y];
  const auto [lower_left, lower_right] = rows.pixels[2 * y + 1];
  const bool first = ((side == kBottom  ? lower_left
                       : side == kRight ? upper_right
                                        : upper_left) >>
                          x &
                      1) != 0,
             second = ((side == kTop    ? upper_right
                        : side == kLeft ? lower_left
                                        : lower_right) >>
                           x &
                       1) != 0;
  unsigned code = kNoEdge;
  if (first || second)
    code = (rows.strong[y] >> x & 1) != 0 ? kStrong
                                          : chains.state[chains.root[chain_at(rows, x, y)]] >> kNodeShift;
  *reinterpret_cast<std::uint16_t *>(graph.side(tile, side) + 2 * at) =
      static_cast<std::uint16_t>((first ? code : 0) | (second ? code << 8 : 0));
}

// Performs hysteresis inside the tile, whose maxima are in `rows`. Components with a strong pixel become edges:
// afterwards rows.strong holds their cells. Weak components that do not touch the tile's border are dropped. The other
// components become nodes of the graph, and their cells are stored there, after wait_for_kernel_ahead(). All threads of
// the block must call it, after a barrier.
__device__ inline void resolve_in_tile(TileRows &rows, ChainMemory &chains, const TileGraph &graph,
                                       int tile) {
  const int thread = static_cast<int>(threadIdx.x);
  const auto for_each_chain = [&](const auto &visit) {
    for (int chain = 1 + thread; chain < rows.chain_end; chain += kTileThreads) visit(chain);
  };
  if (thread == 0) rows.node_count = rows.cell_count = 0;
  if (thread < 32) link_rows(rows, thread);
  __syncthreads();
  make_chains(rows, chains);
  __syncthreads();
  for_each_chain([&](int chain) { unite_with_row_above(rows, chains, chain); });
  __syncthreads();
  for_each_chain([&](int chain) { find_root_of(rows, chains, chain); });
  wait_for_kernel_ahead();  // that kernel may still read the graph of the frame before
  __syncthreads();
  for_each_chain([&](int chain) { make_node(rows, chains, chain, graph, tile); });
  __syncthreads();
  for_each_chain([&](int chain) { store_cells(rows, chains, chain, graph, tile); });
  mark_border(rows, chains, graph, tile);
  __syncthreads();
  if (thread == 0) graph.cell_count[tile] = rows.cell_count;
}

}  // namespace cudavision::canny
