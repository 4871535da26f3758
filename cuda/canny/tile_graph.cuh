// SPDX-License-Identifier: LGPL-2.1-or-later
// Hysteresis across tiles. Each tile settles by itself what it can; what remains are weak components that
// touch its border. They become the nodes of a graph, one graph for the frame, whose node 0 stands for
// everything strong: a weak pixel is an edge when its node ends up in the set of node 0.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/image.h"
#include "cuda/common/launch.h"
#include "cuda/common/union_find.cuh"

namespace cudavision::canny {

constexpr int kTile = 64;                   // pixels a side
constexpr int kCells = kTile / 2;           // of 2 x 2 pixels, a side: a lane of a warp each
constexpr int kMaxCells = kCells * kCells;  // of a tile
constexpr int kMaxNodes = 128;  // of a tile: separate components on its border of 252 pixels are at most 126
constexpr unsigned kStrongNode = 0;

// The codes of a tile's border pixels: 0 no edge, 255 strong, otherwise 1 + the index of the tile's node.
enum Side { kTop, kBottom, kLeft, kRight, kSides };
constexpr std::uint8_t kNoEdge = 0, kStrong = 255;

// A cell with undecided pixels, packed so that it is one word. Bits 0 to 3 of pixels: top left, top right,
// bottom left, bottom right; all set ones touch, so that they are of one component.
struct Cell {
  int x, y;  // in cells, within the tile
  unsigned pixels;
  int node;

  CUDAVISION_HOST_DEVICE unsigned pack() const {
    return static_cast<unsigned>(x | y << 5 | node << 14) | pixels << 10;
  }
  CUDAVISION_HOST_DEVICE static Cell unpack(unsigned word) {
    return {static_cast<int>(word & 31), static_cast<int>(word >> 5 & 31), word >> 10 & 15,
            static_cast<int>(word >> 14)};
  }
};

// What tiles leave for one another. Fixed places for every tile, so that no counter is shared and nothing
// overflows.
struct TileGraph {
  int tiles_x, tiles_y;
  unsigned *parent;      // [1 + tiles * kMaxNodes]: the forest; parent[kStrongNode] is kStrongNode for good
  std::uint8_t *border;  // [tiles][kSides][kTile] codes, along x or y
  unsigned *cells;       // [tiles][kMaxCells] undecided cells, packed
  int *cell_count;       // [tiles]

  CUDAVISION_HOST_DEVICE unsigned node(int tile, int index) const {
    return 1u + static_cast<unsigned>(tile) * kMaxNodes + static_cast<unsigned>(index);
  }
  CUDAVISION_HOST_DEVICE std::uint8_t *side(int tile, Side side) const {
    return border + (static_cast<std::ptrdiff_t>(tile) * kSides + side) * kTile;
  }
  CUDAVISION_HOST_DEVICE unsigned *cells_of(int tile) const {
    return cells + static_cast<std::ptrdiff_t>(tile) * kMaxCells;
  }
};

// Two border pixels of different tiles that touch: weak ones are of one component, a strong one decides a
// weak one.
__device__ inline void join_pixels(const TileGraph &graph, int tile_a, std::uint8_t a, int tile_b,
                                   std::uint8_t b) {
  if (a == kNoEdge || b == kNoEdge || (a == kStrong && b == kStrong)) return;
  unite(graph.parent, a == kStrong ? kStrongNode : graph.node(tile_a, a - 1),
        b == kStrong ? kStrongNode : graph.node(tile_b, b - 1));
}

// Pixel i of a side against the three pixels of the facing side that touch it within the neighbour tile.
// Neighbours along one side are of one component, so that most pairs only repeat what another pair joins:
// those are left out.
__device__ inline void join_sides(const TileGraph &graph, int tile_a, Side side_a, int tile_b, Side side_b,
                                  int i) {
  const std::uint8_t *own = graph.side(tile_a, side_a), *facing = graph.side(tile_b, side_b);
  const bool has_before = i > 0, has_after = i < kTile - 1;
  const std::uint8_t a = own[i], a_before = has_before ? own[i - 1] : kNoEdge,
                     a_after = has_after ? own[i + 1] : kNoEdge;
  const std::uint8_t b = facing[i], b_before = has_before ? facing[i - 1] : kNoEdge,
                     b_after = has_after ? facing[i + 1] : kNoEdge;
  if (b != kNoEdge) {
    if (a_before == kNoEdge || b_before == kNoEdge) join_pixels(graph, tile_a, a, tile_b, b);
  } else {
    if (a_before == kNoEdge) join_pixels(graph, tile_a, a, tile_b, b_before);
    if (a_after == kNoEdge) join_pixels(graph, tile_a, a, tile_b, b_after);
  }
}

// One block of 2 * kTile threads per tile: its right side, its bottom side and the corner where four tiles
// meet.
static __global__ void __launch_bounds__(2 * kTile) join_tiles_kernel(TileGraph graph) {
  wait_for_kernel_ahead();
  const int tx = static_cast<int>(blockIdx.x), ty = static_cast<int>(blockIdx.y);
  const int tile = ty * graph.tiles_x + tx, right = tile + 1, below = tile + graph.tiles_x;
  const int thread = static_cast<int>(threadIdx.x);
  const bool has_right = tx + 1 < graph.tiles_x, has_below = ty + 1 < graph.tiles_y;
  if (thread < kTile) {
    if (has_right) join_sides(graph, tile, kRight, right, kLeft, thread);
  } else if (has_below) {
    join_sides(graph, tile, kBottom, below, kTop, thread - kTile);
  }
  if (thread == 0 && has_right && has_below) {
    constexpr int kLast = kTile - 1;
    join_pixels(graph, tile, graph.side(tile, kBottom)[kLast], below + 1, graph.side(below + 1, kTop)[0]);
    join_pixels(graph, right, graph.side(right, kBottom)[0], below, graph.side(below, kTop)[kLast]);
  }
}

constexpr int kResolveThreads = 128;

// One block per tile: its undecided cells whose node is joined to the strong one become edges.
static __global__ void __launch_bounds__(kResolveThreads)
    resolve_tiles_kernel(TileGraph graph, ImageView<std::uint8_t> edges) {
  wait_for_kernel_ahead();
  const int tx = static_cast<int>(blockIdx.x), ty = static_cast<int>(blockIdx.y);
  const int tile = ty * graph.tiles_x + tx;
  const int count = graph.cell_count[tile];
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kResolveThreads) {
    const Cell cell = Cell::unpack(graph.cells_of(tile)[i]);
    if (find_root(graph.parent, graph.node(tile, cell.node)) != kStrongNode) continue;
    const int x = tx * kTile + 2 * cell.x, y = ty * kTile + 2 * cell.y;
    for (int pixel = 0; pixel < 4; ++pixel)
      if ((cell.pixels >> pixel & 1) != 0) edges.row(y + pixel / 2)[x + pixel % 2] = 255;
  }
}

}  // namespace cudavision::canny
