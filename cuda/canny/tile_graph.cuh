// SPDX-License-Identifier: LGPL-2.1-or-later
// Hysteresis across tiles. Each tile resolves its own components, except weak components that touch the
// tile's border: these are undecided and become nodes of one graph for the whole frame. Node 0 represents all
// strong pixels: an undecided pixel is an edge if its node is connected to node 0.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/acquire_release.cuh"
#include "cuda/common/image.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/union_find.cuh"

namespace cudavision::canny {

constexpr int kTile = 64;                   // side of a tile in pixels
constexpr int kCells = kTile / 2;           // side of a tile in cells of 2 x 2 pixels: one cell per lane
constexpr int kMaxCells = kCells * kCells;  // cells per tile
// Nodes per tile. The tile's border has 252 pixels, and hence at most 126 components.
constexpr int kMaxNodes = 128;
constexpr unsigned kStrongNode = 0;

// Each pixel of a tile's border has a code: kNoEdge, kStrong (an edge), or 1 + the index of its node in the tile.
enum Side { kTop, kBottom, kLeft, kRight, kSides };
constexpr std::uint8_t kNoEdge = 0, kStrong = 255;

// A cell with undecided pixels, which can be packed into one word. Pixels that are set in a cell touch one
// another, so that they belong to one component.
struct UndecidedCell {
  int x, y;         // position in the tile, in cells
  unsigned pixels;  // bits 0 to 3: top left, top right, bottom left, bottom right
  int node;         // index in the tile

  CUDAVISION_HOST_DEVICE unsigned pack() const {
    return static_cast<unsigned>(x | y << 5 | node << 14) | pixels << 10;
  }
  CUDAVISION_HOST_DEVICE static UndecidedCell unpack(unsigned word) {
    return {static_cast<int>(word & 31), static_cast<int>(word >> 5 & 31), word >> 10 & 15,
            static_cast<int>(word >> 14)};
  }
};

// The data that tiles exchange, in device memory. Every tile has fixed slots of the largest possible size, so
// that tiles share no counter and nothing can overflow.
struct TileGraph {
  int tiles_x, tiles_y;
  unsigned *parent;      // [1 + tiles * kMaxNodes]: union-find forest; kStrongNode always stays its own root
  std::uint8_t *border;  // [tiles][kSides][kTile]: codes of the border pixels, by increasing x or y
  unsigned *cells;       // [tiles][kMaxCells]: undecided cells, packed
  int *cell_count;       // [tiles]: number of undecided cells
  unsigned *arrivals;    // [tiles]: how many tiles of the quad (see below) are complete; 0 between frames

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

// Two nodes to be united; equal if there is nothing to do.
struct NodePair {
  unsigned a = kStrongNode, b = kStrongNode;
};

// The nodes of two border pixels of different tiles that touch, by their codes a and b: two undecided
// components become one, and a component that touches a strong pixel is joined to kStrongNode.
__device__ inline NodePair pair_of(const TileGraph &graph, int tile_a, std::uint8_t a, int tile_b,
                                   std::uint8_t b) {
  if (a == kNoEdge || b == kNoEdge) return {};
  return {a == kStrong ? kStrongNode : graph.node(tile_a, a - 1),
          b == kStrong ? kStrongNode : graph.node(tile_b, b - 1)};
}

// Sets `pairs` to the nodes to be united because pixel i of a side touches pixels of the neighbouring tile's facing
// side. Adjacent pixels of one side belong to one component, so that most pairs are redundant; these are left out.
__device__ inline void pairs_of_sides(const TileGraph &graph, int tile_a, Side side_a, int tile_b,
                                      Side side_b, int i, NodePair (&pairs)[2]) {
  const std::uint8_t *own = graph.side(tile_a, side_a), *facing = graph.side(tile_b, side_b);
  const bool has_before = i > 0, has_after = i < kTile - 1;
  const std::uint8_t a = own[i], a_before = has_before ? own[i - 1] : kNoEdge,
                     a_after = has_after ? own[i + 1] : kNoEdge;
  const std::uint8_t b = facing[i], b_before = has_before ? facing[i - 1] : kNoEdge,
                     b_after = has_after ? facing[i + 1] : kNoEdge;
  if (b != kNoEdge) {
    if (a_before == kNoEdge || b_before == kNoEdge) pairs[0] = pair_of(graph, tile_a, a, tile_b, b);
  } else {
    if (a_before == kNoEdge) pairs[0] = pair_of(graph, tile_a, a, tile_b, b_before);
    if (a_after == kNoEdge) pairs[1] = pair_of(graph, tile_a, a, tile_b, b_after);
  }
}

// A quad is a tile with its right, lower and lower right neighbours, as far as they lie in the frame. It is joined by
// one thread for each pixel of the tile's right and bottom sides.
constexpr int kQuadThreads = 2 * kTile;

// Joins the tile (tx, ty) with its neighbours along its right side, along its bottom side, and at its bottom right
// corner, where four tiles meet. Called by kQuadThreads threads, when all tiles of the quad are complete. A single loop
// performs one step of a union per iteration, so that lanes do not wait for one another between their pairs.
__device__ inline void join_quad(const TileGraph &graph, int tx, int ty, int thread) {
  constexpr int kLast = kTile - 1;
  const int tile = ty * graph.tiles_x + tx, right = tile + 1, below = tile + graph.tiles_x;
  const bool has_right = tx + 1 < graph.tiles_x, has_below = ty + 1 < graph.tiles_y;
  NodePair sides[2], corner;
  if (thread < kTile) {
    if (has_right) pairs_of_sides(graph, tile, kRight, right, kLeft, thread, sides);
    if (thread == 0 && has_right && has_below)
      corner =
          pair_of(graph, tile, graph.side(tile, kBottom)[kLast], below + 1, graph.side(below + 1, kTop)[0]);
  } else {
    if (has_below) pairs_of_sides(graph, tile, kBottom, below, kTop, thread - kTile, sides);
    if (thread == kTile && has_right && has_below)
      corner = pair_of(graph, right, graph.side(right, kBottom)[0], below, graph.side(below, kTop)[kLast]);
  }
  NodePair next = sides[1];
  for (auto [a, b] = sides[0];;) {
    if (a != b) {
      unite_step(graph.parent, a, b);
    } else if (next.a != next.b || corner.a != corner.b) {
      a = next.a, b = next.b;
      next = corner, corner = {};
    } else {
      return;
    }
  }
}

// Counts the tile (tx, ty) as complete in one of the quads that it belongs to (`which`: 0 to 3), and returns true if
// the quad is complete now (last-block pattern). The tile's borders and nodes must have been written before a barrier.
__device__ inline bool complete_quad(const TileGraph &graph, int tx, int ty, int which) {
  const int left = tx - which % 2, top = ty - which / 2;
  if (left < 0 || top < 0) return false;
  const unsigned others = (left + 1 < graph.tiles_x ? 2u : 1u) * (top + 1 < graph.tiles_y ? 2u : 1u) - 1;
  // The counter wraps around to 0 for the next frame.
  return arrive(&graph.arrivals[top * graph.tiles_x + left], others) == others;
}

// Joins the quads that the tile (tx, ty) has completed. complete[i]: what complete_quad() returned for quad i. Every
// thread of the block must call this.
__device__ inline void join_complete_quads(const TileGraph &graph, int tx, int ty,
                                           const bool (&complete)[4]) {
  const int thread = static_cast<int>(threadIdx.x), at_once = static_cast<int>(blockDim.x) / kQuadThreads;
  for (int i = thread / kQuadThreads; i < 4; i += at_once)
    if (complete[i]) join_quad(graph, tx - i % 2, ty - i / 2, thread % kQuadThreads);
}

constexpr int kResolveThreads = 128;

// Sets the pixels of undecided cells to 255 if their node is connected to kStrongNode. One block of
// kResolveThreads threads per tile.
static __global__ void __launch_bounds__(kResolveThreads)
    resolve_tiles_kernel(TileGraph graph, ImageView<std::uint8_t> edges) {
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int tx = static_cast<int>(blockIdx.x), ty = static_cast<int>(blockIdx.y);
  const int tile = ty * graph.tiles_x + tx;
  const int count = graph.cell_count[tile];
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kResolveThreads) {
    const UndecidedCell cell = UndecidedCell::unpack(graph.cells_of(tile)[i]);
    if (find_root(graph.parent, graph.node(tile, cell.node)) != kStrongNode) continue;
    const int x = tx * kTile + 2 * cell.x, y = ty * kTile + 2 * cell.y;
    for (int pixel = 0; pixel < 4; ++pixel)
      if ((cell.pixels >> pixel & 1) != 0) edges.row(y + pixel / 2)[x + pixel % 2] = 255;
  }
}

}  // namespace cudavision::canny
