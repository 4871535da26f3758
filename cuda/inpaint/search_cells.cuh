// SPDX-License-Identifier: LGPL-2.1-or-later
// How the search divides the picture: into cells for the blocks, and tiles for the warps.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/async_copy.cuh"
#include "cuda/inpaint/fill_task.cuh"
#include "cuda/inpaint/fill_warps.cuh"

namespace cudavision::inpaint {

// The picture is divided into cells, which are 32 columns wide. Cell i in row-major order belongs to block i modulo the
// number of blocks, for the whole fill. The height of a cell is 2^bits rows.
constexpr int kCellWidth = 32, kMaxCellBits = 6;
// A warp compares the candidates in one tile of a cell at a time. Each lane has four candidates side by side: it loads
// four features at a time and uses each of them for up to four candidates. A high tile has 32 columns and 4 rows, and
// no two lanes have the same candidates. A low tile has 16 columns and one row: eight lanes have the same candidates,
// and each compares them with an eighth of the target. Low tiles take more instructions in all, but the last tile is
// done sooner. So they suit windows with few tiles for each warp.
constexpr int kLaneCandidates = 4, kHighTileBits = 2, kLowTilesPerWarp = 1;
struct HighTile {
  static constexpr int kWidth = 32, kHeight = 1 << kHighTileBits, kLanes = kWidth / kLaneCandidates;
  CUDAVISION_HOST_DEVICE static constexpr int bits_in_cell(int cell_bits) {
    return cell_bits - kHighTileBits;
  }
};
struct LowTile {
  static constexpr int kWidth = 16, kHeight = 1, kLanes = kWidth / kLaneCandidates;
  CUDAVISION_HOST_DEVICE static constexpr int bits_in_cell(int cell_bits) { return cell_bits + 1; }
};

// Whether a window has so few low tiles that they are used: at most kLowTilesPerWarp for each search warp of the grid.
CUDAVISION_HOST_DEVICE constexpr bool are_low_tiles_few(int width, int height, int blocks) {
  return height * (divide_up(width, LowTile::kWidth) + 1) <= kLowTilesPerWarp * kSearchWarps * blocks;
}
// The bits of the lowest cells that may be chosen. Low cells spread a small window over many blocks; high ones have
// less margin, and only they have high tiles.
CUDAVISION_HOST_DEVICE constexpr int least_cell_bits(int reach, int blocks) {
  const bool low = reach > 0 && reach < 1 << 12 && are_low_tiles_few(2 * reach + 1, 2 * reach + 1, blocks);
  return low ? 1 : kHighTileBits + 1;
}

// The bits of cells if, with every height, some block has more cells than fit into its shared memory. Low cells still
// spread a small window over all blocks. But for each patch, a warp tests all cells of its block, so there must not be
// too many.
constexpr int kMostCellsOfBlock = 1024;
constexpr int bits_of_other_cells(int reach, int blocks, int columns, int height) {
  const int least = least_cell_bits(reach, blocks);
  const bool are_few = columns * divide_up(height, 1 << least) <= kMostCellsOfBlock * blocks;
  return least < kHighTileBits && are_few ? least : kMaxCellBits;
}
// Whether a hole is so small that most search windows in it have a candidate. If a window has none, the whole picture
// is searched, for which low cells are slow.
CUDAVISION_HOST_DEVICE constexpr bool is_small_for(const Bounds &hole, int reach) {
  const int width = hole.x1 - hole.x0, height = hole.y1 - hole.y0;
  return 2 * (width < height ? width : height) <= 5 * reach;
}

// Whether the candidates in a window are compared in low tiles. cell_bits: CellsOfBlock::bits.
__device__ inline bool takes_low_tiles(int cell_bits, const Bounds &window) {
  return cell_bits < kHighTileBits ||
         are_low_tiles_few(window.x1 - window.x0, window.y1 - window.y0, static_cast<int>(gridDim.x));
}

// The cells of a block. The features and candidates of the first `kept` ones lie in shared memory, with a margin of
// half a patch; those of the others are read from global memory.
struct CellsOfBlock {
  int bits;
  // columns: the cells in a row of the picture. count: the cells of the block.
  int columns, count;
  int kept;
  std::uint32_t *memory;
  int radius;

  // shared_memory: of the block. The first `used` bytes are in use, a multiple of 16; the cells take the rest.
  __device__ CellsOfBlock(const FillTask &task, const Bounds &hole, int patch_radius,
                          unsigned char *shared_memory, int used)
      : columns(divide_up(task.width, kCellWidth)), radius(patch_radius) {
    const int block = static_cast<int>(blockIdx.x), grid = static_cast<int>(gridDim.x),
              bytes = task.shared_bytes - used;
    memory = reinterpret_cast<std::uint32_t *>(shared_memory + used);
    // Chooses the lowest cells with which every block can keep all its cells in shared memory.
    const auto all = [&] { return columns * divide_up(task.height, height()); };
    const auto fitting = [&] { return bytes / (words() * static_cast<int>(sizeof(std::uint32_t))); };
    bits = least_cell_bits(task.params.search_radius, grid);
    while (bits <= kMaxCellBits && fitting() < divide_up(all(), grid)) ++bits;
    if (bits > kMaxCellBits)
      bits = is_small_for(hole, task.params.search_radius) ? task.bits_of_other_cells : kMaxCellBits;
    count = (all() - block + grid - 1) / grid;
    kept = fitting() < count ? fitting() : count;
  }

  // The height of a cell in the picture, without the margin.
  __device__ int height() const { return 1 << bits; }
  // The layout of a cell in shared memory: rows of `pitch` features, of which `left` lie to the left of the cell, then
  // the words of FillTask::sources. words() is a multiple of 4.
  __device__ int left() const { return divide_up(radius, 4) * 4; }
  __device__ int pitch() const { return kCellWidth + 2 * left(); }
  __device__ int rows() const { return height() + 2 * radius; }
  __device__ int words() const { return pitch() * rows() + divide_up(height(), 4) * 4; }
  // The upper left corner of a cell.
  __device__ Place place_of(int cell) const {
    const int of_picture = static_cast<int>(blockIdx.x) + cell * static_cast<int>(gridDim.x),
              row = of_picture / columns;
    return {(of_picture - row * columns) * kCellWidth, row * height()};
  }
  // Whether the cell with this corner has pixels in a window.
  __device__ bool meets(const Bounds &window, Place corner) const {
    return corner.x < window.x1 && corner.y < window.y1 && corner.x + kCellWidth > window.x0 &&
           corner.y + height() > window.y0;
  }
  // The cell of the block with which a search begins: similar patches tend to be in the rows near the target.
  __device__ int first(Place target) const {
    const int before = (target.y >> bits) * columns - hidden(static_cast<int>(blockIdx.x));
    return before <= 0 ? 0 : clamp_index(before / static_cast<int>(gridDim.x), hidden(count));
  }

  __device__ std::uint32_t *features_of(int cell) const { return memory + cell * words(); }
  __device__ std::uint32_t *sources_of(int cell) const { return features_of(cell) + pitch() * rows(); }

  // Begins to copy the first `kept` cells to shared memory. A whole block calls it. Every thread must call
  // end_copies(), and the block must synchronise, before they are used.
  __device__ void begin_load(const FillTask &task) const {
    const int thread = static_cast<int>(threadIdx.x), quads = pitch() / 4;
    for (int cell = 0; cell < kept; ++cell) {
      const Place place = place_of(cell);
      // No candidate needs pixels outside of the picture, so any feature may stand for them.
      for (int i = thread; i < quads * rows(); i += kFillThreads) {
        const int x = place.x - left() + i % quads * 4,
                  y = clamp_index(place.y - radius + i / quads, task.height);
        begin_copy(reinterpret_cast<uint4 *>(features_of(cell)) + i,
                   reinterpret_cast<const uint4 *>(task.features + y * task.pitch +
                                                   (x < task.pitch ? x : task.pitch)));
      }
    }
    static_assert(kCellWidth == 32, "a row of a cell is a word");
    for (int i = thread; i < kept << bits; i += kFillThreads) {
      const int cell = i >> bits, row = i & (height() - 1);
      const Place place = place_of(cell);
      const int y = place.y + row;
      const bool inside = place.x < task.width && y < task.height;
      sources_of(cell)[row] = inside ? task.sources[y * task.source_pitch + place.x / 32] : 0;
    }
  }
};

}  // namespace cudavision::inpaint
