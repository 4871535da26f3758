// SPDX-License-Identifier: LGPL-2.1-or-later
// The search for the patch that fills a target: each block of the fill kernel compares its share of the candidates.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/grid_minimum.cuh"
#include "cuda/inpaint/front.cuh"

namespace cudavision::inpaint {

// The sum of a pixel that is no candidate: more than every sum of squared differences, and small enough that adding
// such differences to it does not overflow.
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

// The candidates that a lane compares with the target: up to kLaneCandidates neighbours in a row.
struct LaneCandidates {
  // The centre of the first one.
  Place place;
  // Bit k is set if the pixel in column place.x + k is the centre of a candidate in the search window.
  unsigned which;
  // The feature in row 0 and column 0, as TargetPatch counts them, of the patch around `place`.
  const std::uint32_t *features;
  // The elements from one row of features to the next.
  int pitch;
};

// How compare_quad() leaves out unfilled pixels of a quad (PatchQuad). nothing: the quad has none. by_branch: all lanes
// of the warp have the same quad and branch alike. by_mask: lanes have different quads, and a branch would diverge.
enum class LeavesOut { nothing, by_branch, by_mask };

// For each candidate of a lane, adds its squared differences from the target in the pixels of a quad to its sum.
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

// Returns the candidates of a lane in a tile of a cell. kKept: the cell lies in shared memory; a constant, so that the
// compiler knows the address space. tile: the number of the tile in the cell. corner: the cell's first pixel.
template <bool kKept, typename Tile>
__device__ inline LaneCandidates lane_candidates(const FillTask &task, const CellsOfBlock &cells, int lane,
                                                 int cell, int tile, Place corner, const Bounds &window) {
  constexpr int kAcross = kCellWidth / Tile::kWidth;
  const int dx = tile % kAcross * Tile::kWidth + lane % Tile::kLanes * kLaneCandidates,
            dy = tile / kAcross * Tile::kHeight + lane / Tile::kLanes % Tile::kHeight;
  const int x = corner.x + dx, y = corner.y + dy;
  LaneCandidates own{{x, y}, 0, nullptr, kKept ? cells.pitch() : task.pitch};
  std::uint32_t marks = 0;
  if (kKept) {
    own.features = cells.features_of(cell) + dy * cells.pitch() + cells.left() + dx - kTargetLeft;
    marks = cells.sources_of(cell)[dy];
  } else {
    // Lanes whose patches do not lie in the picture read other features, and ignore the result.
    const int top = clamp_index(y - cells.radius, task.height - 2 * cells.radius);
    own.features = task.features + top * task.pitch + (x < task.pitch ? x : task.pitch - 4) - kTargetLeft;
    if (x < task.width && y < task.height) marks = task.sources[y * task.source_pitch + x / 32];
  }
  // How many of the lane's candidates lie to the left of the window's first column, and of its end.
  const int before = clamp_index(window.x0 - x, kLaneCandidates + 1),
            before_end = clamp_index(window.x1 - x, kLaneCandidates + 1);
  const unsigned inside = (1u << before_end) - (1u << before);
  if (y >= window.y0 && y < window.y1 && before < before_end) own.which = marks >> dx & inside;
  return own;
}

// Each lane passes the sum and the place of a candidate (a sum of kNoCandidate or more: no candidate). If the smallest
// source_key() of these is less than *found, the smallest one that the warp has found so far, updates *found and
// FillShared::least_sum. All lanes of the warp must call this.
__device__ inline void note_found(int sum, Place place, FillShared *shared, Key *found) {
  const Key key =
      warp_min(sum < kNoCandidate ? source_key(static_cast<std::uint32_t>(sum), place) : kNoSource);
  if (key >= *found) return;
  *found = key;
  if (FillBlock::own_thread() % 32 == 0) atomicMin(&shared->least_sum, static_cast<int>(sum_of_source(key)));
}

// Compares the candidates in a high tile (search_cells.cuh), and abandons them as soon as all their partial sums exceed
// the least sum of the block. All lanes of the warp must call this.
__device__ __forceinline__ void search_high_tile(const LaneCandidates &own, FillShared *shared, Key *found) {
  int sum[kLaneCandidates], least = kNoCandidate;
  for (int k = 0; k < kLaneCandidates; ++k) sum[k] = (own.which >> k & 1) != 0 ? 0 : kNoCandidate;
  const volatile int &least_sum = shared->least_sum;
  const auto abandoned = [&] {
    least = sum[0];
    for (int k = 1; k < kLaneCandidates; ++k) least = sum[k] < least ? sum[k] : least;
    return __all_sync(kFullWarp, least > least_sum) != 0;
  };
  const QuadCounts counts = shared->quad_counts;
  const int rest = counts.whole % 2, whole = counts.whole - rest, parts = kMaxQuads - counts.part - rest;
  // Two quads at a time: the loads of the second one do not wait for the sums of the first.
#pragma unroll 1
  for (int i = 0; i < whole; i += 2) {
    compare_quad<LeavesOut::nothing>(shared->quads[i], shared->target, own, sum);
    compare_quad<LeavesOut::nothing>(shared->quads[i + 1], shared->target, own, sum);
    if (abandoned()) return;
  }
  // If the number of wholly filled quads is odd, the last of them is compared here, before the partly filled ones.
#pragma unroll 1
  for (int i = parts; i < kMaxQuads; i += 2) {
    compare_quad<LeavesOut::by_branch>(shared->quads[rest != 0 && i == parts ? whole : i], shared->target,
                                       own, sum);
    PatchQuad second = shared->quads[i + 1 < kMaxQuads ? i + 1 : i];
    if (i + 1 == kMaxQuads) second.which = 0;
    compare_quad<LeavesOut::by_branch>(second, shared->target, own, sum);
    if (abandoned()) return;
  }
  // The last call of abandoned() has set `least`. It was called, because a target has filled pixels and so a quad.
  Place place = own.place;
  for (int k = kLaneCandidates - 1; k >= 0; --k)
    if (sum[k] == least) place.x = own.place.x + k;
  note_found(least, place, shared, found);
}

// Compares the candidates in a low tile (search_cells.cuh). All lanes of the warp must call this. The warp consists of
// eight slices of four lanes. Each slice compares all candidates of the tile with every eighth quad of the target.
// *found: the smallest source_key() that the lane has found.
__device__ __forceinline__ void search_low_tile(const LaneCandidates &own, int lane, const FillShared &shared,
                                                Key *found) {
  constexpr int kLanes = LowTile::kLanes, kSlices = 32 / kLanes;
  const int slice = lane / kLanes;
  const QuadCounts counts = shared.quad_counts;
  const int count = counts.whole + counts.part;
  const auto quad_at = [&](int i) {
    const int last = i < count ? i : count - 1;
    PatchQuad quad = shared.quads[last < counts.whole ? last : kMaxQuads - 1 - (last - counts.whole)];
    if (i >= count) quad.which = 0;
    return quad;
  };
  int sum[kLaneCandidates] = {};
  // Three quads at a time: few slices have more, and the loads of the others do not wait for the sums of the first.
#pragma unroll 1
  for (int i = slice; i - slice < count; i += 3 * kSlices) {
    const PatchQuad quads[] = {quad_at(i), quad_at(i + kSlices), quad_at(i + 2 * kSlices)};
#pragma unroll
    for (const PatchQuad &quad : quads) compare_quad<LeavesOut::by_mask>(quad, shared.target, own, sum);
  }
  // Adds up the sums of the slices: lanes exchange two of their four sums, then one, so that each lane ends with the
  // whole sum of one candidate, the k-th.
  static_assert(kSlices == 8 && kLaneCandidates == 4);
  const bool odd = (slice & 1) != 0, high = (slice & 2) != 0;
  const auto added = [](bool second, int a, int b, int distance) {
    return (second ? b : a) + __shfl_xor_sync(kFullWarp, second ? a : b, distance);
  };
  const int a = added(odd, sum[0], sum[2], kLanes), b = added(odd, sum[1], sum[3], kLanes);
  const int half = added(high, a, b, 2 * kLanes), k = (odd ? 2 : 0) + (high ? 1 : 0);
  const int all = half + __shfl_xor_sync(kFullWarp, half, 4 * kLanes);
  const Key key = (own.which >> k & 1) != 0
                      ? source_key(static_cast<std::uint32_t>(all), {own.place.x + k, own.place.y})
                      : Key{kNoSource};
  *found = key < *found ? key : *found;
}

// Calls search(own) for a tile of a cell. own: the LaneCandidates of the lane. corner: the cell's first pixel.
template <typename Tile, typename Search>
__device__ __forceinline__ void search_tile(const FillTask &task, const CellsOfBlock &cells, int lane,
                                            int cell, int tile, Place corner, const Bounds &window,
                                            const Search &search) {
  if (cell < cells.kept)
    search(lane_candidates<true, Tile>(task, cells, lane, cell, tile, corner, window));
  else
    search(lane_candidates<false, Tile>(task, cells, lane, cell, tile, corner, window));
}

// Calls search(own) for the warp's share of the tiles in those cells of the block that meet a window. own: as in
// search_tile(). take() returns the number of the warp's next tile; the tiles are numbered from cell first_cell on.
template <typename Tile, typename Take, typename Search>
__device__ inline void for_each_tile(const FillTask &task, const CellsOfBlock &cells, int lane,
                                     int first_cell, const Bounds &window, const Take &take,
                                     const Search &search) {
  const int bits = Tile::bits_in_cell(cells.bits);
  const auto cell_after = [&](int i) {
    return first_cell + i - (first_cell + i < cells.count ? 0 : cells.count);
  };
  int next = take();
#pragma unroll 1
  for (int begin = 0, before = 0; begin < cells.count; begin += 32) {
    // Each lane tests one cell: does a part of it lie in the window?
    const int own = begin + lane;
    const unsigned seen =
        __ballot_sync(kFullWarp, own < cells.count && cells.meets(window, cells.place_of(cell_after(own))));
    const int end = before + (__popc(seen) << bits);
#pragma unroll 1
    for (; next < end; next = take()) {
      const int i = next - before, cell = cell_after(begin + warp_nth_bit(seen, i >> bits));
      search_tile<Tile>(task, cells, lane, cell, i & ((1 << bits) - 1), cells.place_of(cell), window, search);
    }
    before = end;
  }
}

// Computes TargetWindows::rated. One thread calls it.
template <typename Radius>
__device__ inline void find_rated_window(Place target, Radius radius, FillShared *shared) {
  const Region area = shared->layout.area;
  shared->windows.rated = window_of_target(area, {target.x - area.x, target.y - area.y}, radius);
}

// Computes the other members of FillShared::windows, and lists the cells of a search in low tiles in FillShared::cells.
// All lanes of a warp must call this.
template <typename Radius>
__device__ inline void find_searched_window(const FillTask &task, const CellsOfBlock &cells, Place target,
                                            Radius radius, FillShared *shared) {
  const int lane = FillBlock::own_thread() % 32;
  const Bounds searched = search_window({task.width, task.height}, target, radius, task.reach);
  const bool low = takes_low_tiles(cells.bits, searched);
  int listed = 0;
#pragma unroll 1
  for (int begin = 0; low && begin < cells.count; begin += 32) {
    const Place corner = cells.place_of(begin + lane);
    const bool meets = begin + lane < cells.count && cells.meets(searched, corner);
    const unsigned all = __ballot_sync(kFullWarp, meets);
    const int at = listed + __popc(all & ((1u << lane) - 1));
    if (meets && at < kMostListed) shared->cells[at] = {corner, begin + lane};
    listed += __popc(all);
  }
  if (lane != 0) return;
  shared->windows.searched = searched;
  shared->windows.in_low_tiles = low;
  shared->windows.first_cell = cells.first(target);
  shared->windows.is_first = true;
  shared->windows.listed = listed > kMostListed ? -1 : listed;
}

// Makes the whole picture the search window, for a second search. One thread calls it.
template <typename Radius>
__device__ inline void search_everywhere(const FillTask &task, const CellsOfBlock &cells, Place target,
                                         Radius radius, FillShared *shared) {
  const Size size{task.width, task.height};
  const Bounds searched = search_window(size, target, radius, everywhere(size));
  shared->windows.searched = searched;
  shared->windows.in_low_tiles = takes_low_tiles(cells.bits, searched);
  shared->windows.listed = -1;
  shared->windows.is_first = false;
}

// Compares one guess per warp: the candidate at the shift (from target to source) of a recent patch. Returns its key,
// or kNoSource if it is no candidate. A good guess lets most others be abandoned early. All lanes of a warp must call
// this.
template <typename Radius>
__device__ inline Key try_recent(const FillTask &task, Place target, Radius radius, const Bounds &window,
                                 FillShared *shared) {
  const int thread = FillBlock::own_thread(), warp = thread / 32, lane = thread % 32;
  const Place guess{target.x + shared->recent[warp].x, target.y + shared->recent[warp].y};
  if (guess.x < window.x0 || guess.x >= window.x1 || guess.y < window.y0 || guess.y >= window.y1)
    return kNoSource;
  const bool is_candidate = task.is_source(guess);
  const Key key = key_of_candidate(task, shared->target, guess, radius, lane);
  if (!is_candidate) return kNoSource;
  if (lane == 0) atomicMin(&shared->least_sum, static_cast<int>(sum_of_source(key)));
  return key;
}

// Stores the smallest key that the lanes of a warp have found in FillShared::found. All of them must call this.
__device__ inline void note_found_of_warp(Key found, FillShared *shared) {
  found = warp_min(found);
  const int thread = FillBlock::own_thread();
  if (thread % 32 == 0) shared->found[thread / 32] = found;
}

// Searches the block's candidates in TargetWindows::searched for the source, in low tiles. All SearchWarps call this.
__device__ inline void search_in_low_tiles(const FillTask &task, const CellsOfBlock &cells,
                                           FillShared *shared) {
  const Bounds window = shared->windows.searched;
  const int thread = SearchWarps::own_thread(), warp = thread / 32, lane = thread % 32,
            bits = LowTile::bits_in_cell(cells.bits);
  const int tiles = shared->windows.listed * (1 << bits);  // negative if the cells are not listed
  Key found = kNoSource;
  const auto search = [&](const LaneCandidates &own) {
    if (__any_sync(kFullWarp, own.which != 0)) search_low_tile(own, lane, *shared, &found);
  };
#pragma unroll 1
  for (int i = warp; i < tiles; i += SearchWarps::kWarps) {
    const ListedCell cell = shared->cells[i >> bits];
    search_tile<LowTile>(task, cells, lane, cell.index, i & ((1 << bits) - 1), cell.corner, window, search);
  }
  if (tiles < 0) {
    int tile = warp - SearchWarps::kWarps;
    for_each_tile<LowTile>(
        task, cells, lane, 0, window, [&] { return tile += SearchWarps::kWarps; }, search);
  }
  note_found_of_warp(found, shared);
}

// As search_in_low_tiles(), but in high tiles. All warps of the block must call this, but the StateWarps come later. So
// each warp takes the next tile when it is ready for it.
template <typename Radius>
__device__ inline void search_in_high_tiles(const FillTask &task, const CellsOfBlock &cells, Place target,
                                            Radius radius, FillShared *shared) {
  const Bounds window = shared->windows.searched;
  const int lane = FillBlock::own_thread() % 32;
  Key found = try_recent(task, target, radius, window, shared);
  const auto take = [&] {
    int tile = 0;
    if (lane == 0) tile = atomicAdd(&shared->tiles_taken, 1);
    return __shfl_sync(kFullWarp, tile, 0);
  };
  for_each_tile<HighTile>(task, cells, lane, shared->windows.first_cell, window, take,
                          [&](const LaneCandidates &own) {
                            if (__any_sync(kFullWarp, own.which != 0)) search_high_tile(own, shared, &found);
                          });
  note_found_of_warp(found, shared);
}

// Publishes the smallest key that the block has found, or kStopped, to all blocks. Before, the warps of Team must call
// note_found_of_warp() and synchronise.
template <typename Team>
__device__ inline void publish_found(const FillShared &shared, GridMinimum *minimum) {
  const int thread = Team::own_thread();
  if (thread >= 32) return;
  const Key found = warp_min(shared.found[thread < Team::kWarps ? thread : 0]);
  minimum->publish(shared.stops ? kStopped : found);
}

}  // namespace cudavision::inpaint
