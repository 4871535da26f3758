// SPDX-License-Identifier: LGPL-2.1-or-later
// The search for the patch that fills a target: all blocks of the fill kernel, each with its share of the candidates.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/divisor.h"
#include "cuda/common/grid_minimum.cuh"
#include "cuda/inpaint/cell_columns.h"
#include "cuda/inpaint/front.cuh"

namespace cudavision::inpaint {

// A warp compares the candidates in a tile of 32 columns. Each lane has four of them, side by side: it loads four features
// at a time and uses each of them for up to four candidates. In a high tile, each lane has candidates of its own. In a low
// tile, which is one row high, four lanes share their candidates, and each compares them with a quarter of the target. Low
// tiles take more instructions in all, but the last one is done sooner: they are right where there are few for each warp.
constexpr int kTileWidth = 32, kLowTile = 1, kHighTileBits = 2, kHighTile = 1 << kHighTileBits,
              kLowTilesPerWarp = 1;
// The candidates of a lane, and the lanes for a row of a tile.
constexpr int kLaneCandidates = 4, kTileLanes = kTileWidth / kLaneCandidates;
// The picture is divided into cells, each a column of high tiles. Cell i belongs to block i modulo the number
// of blocks, for the whole fill (cell_columns.h).
constexpr int kMinTileBits = 1, kMaxTileBits = 4;
constexpr Size kLowestCell{kTileWidth, kHighTile << kMinTileBits};
// More than every sum, and small enough that no sum overflows after it.
constexpr int kNoCandidate = 1 << 30;

// Adds the squares of four bytes to sum.
__device__ inline int add_squares(unsigned bytes, int sum) {
  return static_cast<int>(__dp4a(bytes, bytes, static_cast<unsigned>(sum)));
}

// The source_key() of the candidate at a place, computed by a warp and returned in all lanes.
template <typename Radius>
__device__ inline Key key_of_candidate(const FillTask &task, const TargetPatch &target, Place place,
                                       Radius radius, int lane) {
  const int size = 2 * radius + 1;
  const std::uint32_t *upper_left = task.features + (place.y - radius) * task.pitch + place.x - kTargetLeft;
  const int column = lane % kTargetColumns;
  constexpr int kRowsAtOnce = 32 / kTargetColumns, kRounds = kPatchUnroll<Radius>;
  int sum = 0;
  for (int begin = lane / kTargetColumns; begin < size; begin += kRounds * kRowsAtOnce) {
    // All loads are issued before the first result is used.
    std::uint32_t feature[kRounds];
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const int row = begin + k * kRowsAtOnce;
      feature[k] = row < size ? upper_left[row * task.pitch + column] : 0;
    }
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const int row = begin + k * kRowsAtOnce;
      if (row < size && (target.filled[row] >> column & 1) != 0)
        sum = add_squares(__vabsdiffu4(feature[k], target.feature[row][column]), sum);
    }
  }
  return source_key(static_cast<std::uint32_t>(warp_sum(sum)), place);
}

// The candidates of a lane.
struct LaneCandidates {
  // The first one.
  Place place;
  // Bit k is set if place.x + k is a candidate in the window.
  unsigned which;
  // The feature of the uppermost row and of column 0, as TargetPatch counts them, of the patch around the first one.
  const std::uint32_t *features;
  // From one row of features to the next.
  int pitch;
};

// How the unfilled pixels of a quad are left out: there are none; or all lanes of a warp have the same quad and take a
// branch; or each lane has a quad of its own, and a branch would separate them.
enum class LeavesOut { nothing, by_branch, by_mask };

// Adds the squared differences between the pixels of a quad and those of the candidates of a lane to their sums.
template <LeavesOut kHow>
__device__ inline void compare_quad(const PatchQuad &quad, const TargetPatch &target,
                                    const LaneCandidates &own, int (&sum)[kLaneCandidates]) {
  const auto *words = reinterpret_cast<const uint4 *>(own.features + quad.row * own.pitch + quad.column);
  const uint4 a = words[0], b = words[1];
  const uint4 wanted = *reinterpret_cast<const uint4 *>(&target.feature[quad.row][quad.column]);
  const std::uint32_t feature[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
  const std::uint32_t pixel[4] = {wanted.x, wanted.y, wanted.z, wanted.w};
#pragma unroll
  for (int x = 0; x < 4; ++x) {
    const bool counts = kHow == LeavesOut::nothing || (quad.which >> x & 1) != 0;
    if (kHow == LeavesOut::by_branch && !counts) continue;
    const unsigned mask = counts ? ~0u : 0;
#pragma unroll
    for (int k = 0; k < kLaneCandidates; ++k)
      sum[k] = add_squares(__vabsdiffu4(feature[x + k], pixel[x]) & mask, sum[k]);
  }
}

// The cells of a block. The features and candidates of the first `kept` ones lie in shared memory, with a margin of
// half a patch; those of the others are read from global memory.
struct CellsOfBlock {
  // The tiles in a cell are 2 to this power. Low cells spread a small window over many blocks; high ones have less
  // margin.
  int tile_bits;
  // The cells in a row of the picture, of which the last ones may lie beyond it, and those of the block. There are
  // fewer than 2^21 cells of at most 2^9 + 2^4 columns.
  int columns, count;
  Divisor by_columns;
  int kept;
  std::uint32_t *memory;
  int radius;

  // memory: `bytes` bytes of shared memory, aligned to 16 bytes.
  __device__ CellsOfBlock(const FillTask &task, int patch_radius, unsigned char *shared_memory, int bytes)
      : columns(task.cell_columns), by_columns(columns), radius(patch_radius) {
    const int block = static_cast<int>(blockIdx.x), grid = static_cast<int>(gridDim.x);
    memory = reinterpret_cast<std::uint32_t *>(shared_memory);
    int fitting, all;
    // The lowest cells of which every block can keep its own.
    for (tile_bits = kMinTileBits;; ++tile_bits) {
      all = columns * divide_up(task.height, height());
      fitting = bytes / (words() * static_cast<int>(sizeof(std::uint32_t)));
      if (tile_bits == kMaxTileBits || fitting >= divide_up(all, grid)) break;
    }
    count = (all - block + grid - 1) / grid;
    kept = fitting < count ? fitting : count;
  }

  // Of a cell in the picture.
  __device__ int height() const { return kHighTile << tile_bits; }
  // The layout of a cell in shared memory: rows of `pitch` features, of which `left` lie to the left of the cell, then
  // the words of FillTask::sources. words() is a multiple of 4.
  __device__ int left() const { return divide_up(radius, 4) * 4; }
  __device__ int pitch() const { return kTileWidth + 2 * left(); }
  __device__ int rows() const { return height() + 2 * radius; }
  __device__ int words() const { return pitch() * rows() + height(); }
  __device__ std::uint32_t *features_of(int cell) const { return memory + cell * words(); }
  __device__ std::uint32_t *sources_of(int cell) const { return features_of(cell) + pitch() * rows(); }
  // The upper left corner of a cell.
  __device__ Place place_of(int cell) const {
    const int of_picture = static_cast<int>(blockIdx.x) + cell * static_cast<int>(gridDim.x),
              row = by_columns.quotient_of(of_picture);
    return {(of_picture - row * columns) * kTileWidth, row * height()};
  }
  __device__ bool is_in(const Bounds &window, int cell) const {
    const Place corner = place_of(cell);
    return corner.x < window.x1 && corner.y < window.y1 && corner.x + kTileWidth > window.x0 &&
           corner.y + height() > window.y0;
  }
  // The cell to begin with: similar patches tend to be in the rows near the target.
  __device__ int first(Place target) const {
    const int before = (target.y / kHighTile >> tile_bits) * columns - static_cast<int>(blockIdx.x);
    return before <= 0 ? 0 : clamp_index(before / static_cast<int>(gridDim.x), count);
  }

  // Copies the first cells to shared memory. A whole block calls it and must synchronise before they are used.
  __device__ void load(const FillTask &task) const {
    const int thread = static_cast<int>(threadIdx.x), quads = pitch() / 4;
    for (int cell = 0; cell < kept; ++cell) {
      const Place place = place_of(cell);
      // No candidate needs pixels outside of the picture, so any feature may stand for them.
      for (int i = thread; i < quads * rows(); i += kFillThreads) {
        const int x = place.x - left() + i % quads * 4,
                  y = clamp_index(place.y - radius + i / quads, task.height);
        reinterpret_cast<uint4 *>(features_of(cell))[i] = *reinterpret_cast<const uint4 *>(
            task.features + y * task.pitch + (x < task.pitch ? x : task.pitch));
      }
      static_assert(kTileWidth == 32, "a row of a cell is a word");
      for (int i = thread; i < height(); i += kFillThreads) {
        const int y = place.y + i;
        const bool inside = place.x < task.width && y < task.height;
        sources_of(cell)[i] = inside ? task.sources[y * task.source_pitch + place.x / 32] : 0;
      }
    }
  }
};

// Of a tile of kRows rows. kKept: its cell lies in shared memory, and the compiler knows it. corner: of the cell.
template <bool kKept, int kRows>
__device__ inline LaneCandidates lane_candidates(const FillTask &task, const CellsOfBlock &cells, int cell,
                                                 int tile, Place corner, const Bounds &window) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int dx = lane % kTileLanes * kLaneCandidates, dy = tile * kRows + lane / kTileLanes % kRows;
  const int x = corner.x + dx, y = corner.y + dy;
  LaneCandidates own{{x, y}, 0, nullptr, kKept ? cells.pitch() : task.pitch};
  std::uint32_t marks = 0;
  if (kKept) {
    own.features = cells.features_of(cell) + dy * cells.pitch() + cells.left() + dx - kTargetLeft;
    marks = cells.sources_of(cell)[dy];
  } else {
    // Lanes whose patches are not in the picture compare others and ignore the result.
    const int top = clamp_index(y - cells.radius, task.height - 2 * cells.radius);
    own.features = task.features + top * task.pitch + (x < task.pitch ? x : task.pitch - 4) - kTargetLeft;
    if (x < task.width && y < task.height) marks = task.sources[y * task.source_pitch + x / 32];
  }
  // How many of them lie to the left of each border of the window.
  const int before = clamp_index(window.x0 - x, kLaneCandidates + 1),
            before_end = clamp_index(window.x1 - x, kLaneCandidates + 1);
  const unsigned inside = (1u << before_end) - (1u << before);
  if (y >= window.y0 && y < window.y1 && before < before_end) own.which = marks >> dx & inside;
  return own;
}

// Notes a candidate of each lane, with its sum, in *found, the best key of the warp. A whole warp calls it.
__device__ inline void note_found(int sum, Place place, FillShared *shared, Key *found) {
  const Key key =
      warp_min(sum < kNoCandidate ? source_key(static_cast<std::uint32_t>(sum), place) : kNoSource);
  if (key >= *found) return;
  *found = key;
  if (threadIdx.x % 32 == 0) atomicMin(&shared->least_sum, static_cast<int>(sum_of_source(key)));
}

// Compares the candidates of a warp in a high tile. A whole warp calls it. It abandons them as soon as all partial sums
// exceed the least sum of the block.
__device__ __forceinline__ void search_high_tile(const LaneCandidates &own, FillShared *shared, Key *found) {
  int sum[kLaneCandidates], least = kNoCandidate;
  for (int k = 0; k < kLaneCandidates; ++k) sum[k] = (own.which >> k & 1) != 0 ? 0 : kNoCandidate;
  const volatile int &least_sum = shared->least_sum;
  const auto abandoned = [&] {
    least = sum[0];
    for (int k = 1; k < kLaneCandidates; ++k) least = sum[k] < least ? sum[k] : least;
    return __all_sync(kFullWarp, least > least_sum) != 0;
  };
  const int rest = shared->whole_quads % 2, whole = shared->whole_quads - rest,
            parts = kMaxQuads - shared->part_quads - rest;
  // Two at a time: the loads of the second one do not wait for the sums of the first.
#pragma unroll 1
  for (int i = 0; i < whole; i += 2) {
    compare_quad<LeavesOut::nothing>(shared->quads[i], shared->target, own, sum);
    compare_quad<LeavesOut::nothing>(shared->quads[i + 1], shared->target, own, sum);
    if (abandoned()) return;
  }
  // If a whole one is left, it comes before those of which a part is filled.
#pragma unroll 1
  for (int i = parts; i < kMaxQuads; i += 2) {
    compare_quad<LeavesOut::by_branch>(shared->quads[rest != 0 && i == parts ? whole : i], shared->target,
                                       own, sum);
    PatchQuad second = shared->quads[i + 1 < kMaxQuads ? i + 1 : i];
    if (i + 1 == kMaxQuads) second.which = 0;
    compare_quad<LeavesOut::by_branch>(second, shared->target, own, sum);
    if (abandoned()) return;
  }
  // The last abandoned() has set `least`: there is a quad, because a target has a filled neighbour.
  Place place = own.place;
  for (int k = kLaneCandidates - 1; k >= 0; --k)
    if (sum[k] == least) place.x = own.place.x + k;
  note_found(least, place, shared, found);
}

// Compares the candidates of a warp in a low tile. A whole warp calls it. Lanes with the same candidates form a slice each:
// they compare them with every fourth quad. *found: the best key of the lane.
__device__ __forceinline__ void search_low_tile(const LaneCandidates &own, const FillShared &shared,
                                                Key *found) {
  constexpr int kSlices = 32 / kTileLanes;
  const int lane = static_cast<int>(threadIdx.x) % 32, slice = lane / kTileLanes;
  const int whole = shared.whole_quads, count = whole + shared.part_quads;
  const auto quad_at = [&](int i) {
    const int last = i < count ? i : count - 1;
    PatchQuad quad = shared.quads[last < whole ? last : kMaxQuads - 1 - (last - whole)];
    if (i >= count) quad.which = 0;
    return quad;
  };
  int sum[kLaneCandidates] = {}, i = 0;
  // Two at a time: the loads of the second one do not wait for the sums of the first.
#pragma unroll 1
  for (; i + 2 * kSlices <= whole; i += 2 * kSlices) {
    compare_quad<LeavesOut::nothing>(shared.quads[i + slice], shared.target, own, sum);
    compare_quad<LeavesOut::nothing>(shared.quads[i + slice + kSlices], shared.target, own, sum);
  }
#pragma unroll 1
  for (; i < count; i += 2 * kSlices) {
    const PatchQuad first = quad_at(i + slice), second = quad_at(i + slice + kSlices);
    compare_quad<LeavesOut::by_mask>(first, shared.target, own, sum);
    compare_quad<LeavesOut::by_mask>(second, shared.target, own, sum);
  }
  // Each slice adds up one of the four sums: first two slices exchange halves, then quarters.
  static_assert(kSlices == 4 && kLaneCandidates == 4);
  const bool odd = (slice & 1) != 0, high = (slice & 2) != 0;
  const auto added = [](bool second, int a, int b, int distance) {
    return (second ? b : a) + __shfl_xor_sync(kFullWarp, second ? a : b, distance);
  };
  const int a = added(odd, sum[0], sum[2], kTileLanes), b = added(odd, sum[1], sum[3], kTileLanes);
  const int all = added(high, a, b, 2 * kTileLanes), k = (odd ? 2 : 0) + (high ? 1 : 0);
  const Key key = (own.which >> k & 1) != 0
                      ? source_key(static_cast<std::uint32_t>(all), {own.place.x + k, own.place.y})
                      : Key{kNoSource};
  *found = key < *found ? key : *found;
}

// The best key that the warp finds in the cells of the block, in tiles of kRows rows, or `found` if that is better. In low
// tiles, each lane returns its own.
template <int kRows>
__device__ inline Key search_tiles(const FillTask &task, const CellsOfBlock &cells, Place target,
                                   const Bounds &window, Key found, FillShared *shared) {
  const int first = kRows == kLowTile ? 0 : cells.first(target), warp = static_cast<int>(threadIdx.x) / 32,
            lane = static_cast<int>(threadIdx.x) % 32;
  // A cell has 1 << bits tiles.
  const int bits = cells.tile_bits + (kRows == kLowTile ? kHighTileBits : 0);
  const auto cell_after = [&](int i) { return first + i - (first + i < cells.count ? 0 : cells.count); };
  const auto search = [&](const LaneCandidates &own) {
    if (!__any_sync(kFullWarp, own.which != 0)) return;
    if constexpr (kRows == kLowTile)
      search_low_tile(own, *shared, &found);
    else
      search_high_tile(own, shared, &found);
  };
  for (int begin = 0; begin < cells.count; begin += 32) {
    // Each lane looks whether one cell lies in the window.
    const int own = begin + lane;
    const unsigned seen = __ballot_sync(kFullWarp, own < cells.count && cells.is_in(window, cell_after(own)));
    for (int i = warp; i < __popc(seen) << bits; i += kFillWarps) {
      const int cell = cell_after(begin + warp_nth_bit(seen, i >> bits)), tile = i & ((1 << bits) - 1);
      const Place corner = cells.place_of(cell);
      if (cell < cells.kept)
        search(lane_candidates<true, kRows>(task, cells, cell, tile, corner, window));
      else
        search(lane_candidates<false, kRows>(task, cells, cell, tile, corner, window));
    }
  }
  return found;
}

// Whether the candidates in a window are compared in low tiles: at most kLowTilesPerWarp tiles for each warp of the grid.
__device__ inline bool are_low_tiles_few(const Bounds &window) {
  const int tiles = (window.y1 - window.y0) * (divide_up(window.x1 - window.x0, kTileWidth) + 1);
  return tiles <= kLowTilesPerWarp * kFillWarps * static_cast<int>(gridDim.x);
}

// The best key of the candidates at the shifts of the last patches, one for each warp: a good bound lets most other
// candidates be abandoned early. Where there are few, it is not worth the time. A whole block calls it.
template <typename Radius>
__device__ inline Key try_recent(const FillTask &task, Place target, Radius radius, const Bounds &window,
                                 FillShared *shared) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const Place guess{target.x + shared->recent[warp].x, target.y + shared->recent[warp].y};
  if (are_low_tiles_few(window) || guess.x < window.x0 || guess.x >= window.x1 || guess.y < window.y0 ||
      guess.y >= window.y1)
    return kNoSource;
  const bool is_candidate = task.is_source(guess);
  const Key key = key_of_candidate(task, shared->target, guess, radius, lane);
  if (!is_candidate) return kNoSource;
  if (lane == 0) atomicMin(&shared->least_sum, static_cast<int>(sum_of_source(key)));
  return key;
}

// The best key of the block's candidates for shared->target, in all threads. found: the best one that the warp knows. A
// whole block calls it, which it synchronises.
__device__ inline Key search_cells(const FillTask &task, const CellsOfBlock &cells, Place target,
                                   const Bounds &window, Key found, FillShared *shared) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  if (are_low_tiles_few(window))
    found = search_tiles<kLowTile>(task, cells, target, window, found, shared);
  else
    found = search_tiles<kHighTile>(task, cells, target, window, found, shared);
  found = warp_min(found);
  if (lane == 0) shared->found[warp] = found;
  __syncthreads();
  return warp_min(shared->found[lane % kFillWarps]);
}

}  // namespace cudavision::inpaint
