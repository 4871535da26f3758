// SPDX-License-Identifier: LGPL-2.1-or-later
// The search for the patch that fills a target: all blocks of the fill kernel, each with its share of the candidates.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "cuda/common/grid_minimum.cuh"
#include "cuda/inpaint/front.cuh"

namespace cudavision::inpaint {

// A warp compares the candidates in a tile. Each lane has four of them, side by side: it loads four features at a time
// and uses each of them for up to four candidates.
constexpr int kLaneCandidates = 4, kTileWidth = 32, kTileHeight = 4,
              kLanesPerRow = kTileWidth / kLaneCandidates;
static_assert(kLanesPerRow * kTileHeight == 32);
// The picture is divided into cells, each a column of tiles. Cell i belongs to block i modulo the number
// of blocks, for the whole fill.
constexpr int kMinTileBits = 1, kMaxTileBits = 4;
// More than every sum, and small enough that no sum overflows after it.
constexpr int kNoCandidate = 1 << 30;

// Adds the squared differences of the four bytes of a and b to sum.
__device__ inline int add_squares(std::uint32_t a, std::uint32_t b, int sum) {
  const unsigned difference = __vabsdiffu4(a, b);
  return static_cast<int>(__dp4a(difference, difference, static_cast<unsigned>(sum)));
}

// The source_key() of the candidate at a place, computed by a warp and returned in all lanes.
__device__ inline Key key_of_candidate(const FillTask &task, const TargetPatch &target, Place place,
                                       int lane) {
  const int size = task.params.patch_size;
  const std::uint32_t *upper_left = task.features + (place.y - size / 2) * task.pitch + place.x - kTargetLeft;
  constexpr int kRounds = divide_up(kMaxPatchSize * kTargetColumns, 32);
  std::uint32_t feature[kRounds];
  // All loads are issued before the first result is used.
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    const int row = (k * 32 + lane) / kTargetColumns, column = lane % kTargetColumns;
    feature[k] = row < size ? upper_left[row * task.pitch + column] : 0;
  }
  int sum = 0;
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    const int row = (k * 32 + lane) / kTargetColumns, column = lane % kTargetColumns;
    if (row < size && (target.filled[row] >> column & 1) != 0)
      sum = add_squares(feature[k], target.feature[row][column], sum);
  }
  return source_key(static_cast<std::uint32_t>(warp_sum(sum)), place);
}

// Adds the squared differences between the pixels of a quad and those of the candidates of a lane to their sums.
// features: those of column 0 of the quad's row in the patch of the first candidate.
template <bool kWhole>
__device__ inline void compare_quad(const PatchQuad &quad, const TargetPatch &target,
                                    const std::uint32_t *features, int (&sum)[kLaneCandidates]) {
  const auto *words = reinterpret_cast<const uint4 *>(features + quad.column);
  const uint4 a = words[0], b = words[1];
  const uint4 wanted = *reinterpret_cast<const uint4 *>(&target.feature[quad.row][quad.column]);
  const std::uint32_t feature[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
  const std::uint32_t pixel[4] = {wanted.x, wanted.y, wanted.z, wanted.w};
#pragma unroll
  for (int x = 0; x < 4; ++x) {
    if (!kWhole && (quad.which >> x & 1) == 0) continue;
#pragma unroll
    for (int k = 0; k < kLaneCandidates; ++k) sum[k] = add_squares(feature[x + k], pixel[x], sum[k]);
  }
}

// The cells of a block. The features and candidates of the first `kept` ones lie in shared memory, with a margin of half
// a patch; those of the others are read from global memory.
struct CellsOfBlock {
  // The tiles in a cell are 2 to this power. Low cells spread a small window over many blocks; high ones have less margin.
  int tile_bits;
  // The cells in a row of the picture, and those of the block.
  int columns, count;
  int kept;
  std::uint32_t *memory;
  // The layout of a cell in shared memory: rows of `pitch` features, of which `left` lie to the left of the cell, then
  // the words of FillTask::sources.
  int left, pitch, rows;

  // memory: `bytes` bytes of shared memory, aligned to 16 bytes.
  __device__ CellsOfBlock(const FillTask &task, unsigned char *shared_memory, int bytes) {
    const int radius = task.params.patch_size / 2, block = static_cast<int>(blockIdx.x),
              grid = static_cast<int>(gridDim.x);
    columns = divide_up(task.width, kTileWidth);
    memory = reinterpret_cast<std::uint32_t *>(shared_memory);
    left = divide_up(radius, 4) * 4, pitch = kTileWidth + 2 * left;
    int fitting, all;
    // The lowest cells of which every block can keep its own.
    for (tile_bits = kMinTileBits;; ++tile_bits) {
      rows = height() + 2 * radius;
      all = columns * divide_up(task.height, height());
      fitting = bytes / (words() * static_cast<int>(sizeof(std::uint32_t)));
      if (tile_bits == kMaxTileBits || fitting >= divide_up(all, grid)) break;
    }
    count = (all - block + grid - 1) / grid;
    kept = fitting < count ? fitting : count;
  }

  // Of a cell in the picture.
  __device__ int height() const { return kTileHeight << tile_bits; }
  // Of a cell in shared memory: a multiple of 4.
  __device__ int words() const { return pitch * rows + height(); }
  __device__ std::uint32_t *features_of(int cell) const { return memory + cell * words(); }
  __device__ std::uint32_t *sources_of(int cell) const { return features_of(cell) + pitch * rows; }
  // The upper left corner of a cell.
  __device__ Place place_of(int cell) const {
    const int of_picture = static_cast<int>(blockIdx.x) + cell * static_cast<int>(gridDim.x);
    return {of_picture % columns * kTileWidth, of_picture / columns * height()};
  }
  // The cell to begin with: similar patches tend to be in the rows near the target.
  __device__ int first(Place target) const {
    const int before = target.y / height() * columns - static_cast<int>(blockIdx.x);
    return before <= 0 ? 0 : clamp_index(before / static_cast<int>(gridDim.x), count);
  }

  // Copies the first cells to shared memory. A whole block calls it and must synchronise before they are used.
  __device__ void load(const FillTask &task) const {
    const int radius = task.params.patch_size / 2, thread = static_cast<int>(threadIdx.x), quads = pitch / 4;
    for (int cell = 0; cell < kept; ++cell) {
      const Place place = place_of(cell);
      // No candidate needs pixels outside of the picture, so any feature may stand for them.
      for (int i = thread; i < quads * rows; i += kFillThreads) {
        const int x = place.x - left + i % quads * 4,
                  y = clamp_index(place.y - radius + i / quads, task.height);
        reinterpret_cast<uint4 *>(features_of(cell))[i] = *reinterpret_cast<const uint4 *>(
            task.features + y * task.pitch + (x < task.pitch ? x : task.pitch));
      }
      static_assert(kTileWidth == 32, "a row of a cell is a word");
      for (int i = thread; i < height(); i += kFillThreads) {
        const int y = place.y + i;
        sources_of(cell)[i] = y < task.height ? task.sources[y * task.source_pitch + place.x / 32] : 0;
      }
    }
  }
};

// The four candidates of a lane.
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

// kKept: the cell lies in shared memory, and the compiler knows it. corner: of the cell.
template <bool kKept>
__device__ inline LaneCandidates lane_candidates(const FillTask &task, const CellsOfBlock &cells, int cell,
                                                 int tile, Place corner, const Bounds &window) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int dx = lane % kLanesPerRow * kLaneCandidates, dy = tile * kTileHeight + lane / kLanesPerRow;
  const int x = corner.x + dx, y = corner.y + dy;
  LaneCandidates own{{x, y}, 0, nullptr, kKept ? cells.pitch : task.pitch};
  std::uint32_t marks = 0;
  if (kKept) {
    own.features = cells.features_of(cell) + dy * cells.pitch + cells.left + dx - kTargetLeft;
    marks = cells.sources_of(cell)[dy];
  } else {
    // Lanes whose patches are not in the picture compare others and ignore the result.
    const int top = clamp_index(y - task.params.patch_size / 2, task.height - task.params.patch_size + 1);
    own.features = task.features + top * task.pitch + (x < task.pitch ? x : task.pitch - 4) - kTargetLeft;
    if (x < task.width && y < task.height) marks = task.sources[y * task.source_pitch + x / 32];
  }
  for (unsigned k = 0; k < kLaneCandidates; ++k) {
    const int cx = x + static_cast<int>(k);
    const bool inside = cx >= window.x0 && cx < window.x1 && y >= window.y0 && y < window.y1;
    own.which |= (inside ? marks >> (static_cast<unsigned>(dx) + k) & 1 : 0) << k;
  }
  return own;
}

// Compares the candidates of a warp. A whole warp calls it. It abandons them as soon as all partial sums exceed the best
// sum of the block.
__device__ __forceinline__ void search_tile(const LaneCandidates &own, FillShared *shared) {
  if (!__any_sync(kFullWarp, own.which != 0)) return;
  int sum[kLaneCandidates], least = kNoCandidate;
  for (int k = 0; k < kLaneCandidates; ++k) sum[k] = (own.which >> k & 1) != 0 ? 0 : kNoCandidate;
  const volatile Key &best = shared->best;
  const auto abandoned = [&] {
    least = sum[0];
    for (int k = 1; k < kLaneCandidates; ++k) least = sum[k] < least ? sum[k] : least;
    return __all_sync(kFullWarp, least > static_cast<int>(sum_of_source(best))) != 0;
  };
  const int whole = shared->whole_quads, parts = kMaxQuads - shared->part_quads;
  const auto compare = [&](int i, auto is_whole) {
    const PatchQuad quad = shared->quads[i];
    compare_quad<is_whole.value>(quad, shared->target, own.features + quad.row * own.pitch, sum);
  };
  // Two at a time: the loads of the second one do not wait for the sums of the first.
#pragma unroll 1
  for (int i = 0; i + 1 < whole; i += 2) {
    compare(i, std::true_type{});
    compare(i + 1, std::true_type{});
    if (abandoned()) return;
  }
  if (whole % 2 != 0) {
    compare(whole - 1, std::true_type{});
    if (abandoned()) return;
  }
#pragma unroll 1
  for (int i = parts; i < kMaxQuads; ++i) {
    compare(i, std::false_type{});
    if (abandoned()) return;
  }
  // The last abandoned() has set `least`: there is a quad, because a target has a filled neighbour.
  Key key = kNoSource;
  for (int k = kLaneCandidates - 1; k >= 0; --k)
    if (sum[k] == least) key = source_key(static_cast<std::uint32_t>(least), {own.place.x + k, own.place.y});
  key = warp_min(least < kNoCandidate ? key : kNoSource);
  if (threadIdx.x % 32 == 0 && key < best) atomicMin(&shared->best, key);
}

// Lowers shared->best to the best key of the block's candidates for shared->target. A whole block calls it; it
// synchronises the block after its last write.
__device__ inline void search_cells(const FillTask &task, const CellsOfBlock &cells, Place target, int reach,
                                    FillShared *shared) {
  const Bounds window = search_window({task.width, task.height}, target, task.params.patch_size / 2, reach);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  // The shifts of the last patches come first: a good bound lets most other candidates be abandoned early.
  const Place guess{target.x + shared->recent[warp].x, target.y + shared->recent[warp].y};
  if (guess.x >= window.x0 && guess.x < window.x1 && guess.y >= window.y0 && guess.y < window.y1) {
    const bool is_candidate = task.is_source(guess);
    const Key key = key_of_candidate(task, shared->target, guess, lane);
    if (lane == 0 && is_candidate) atomicMin(&shared->best, key);
  }
  const int first = cells.first(target), tiles = cells.count << cells.tile_bits;
  for (int i = warp; i < tiles; i += kFillWarps) {
    const int tile = i & ((1 << cells.tile_bits) - 1);
    int cell = first + (i >> cells.tile_bits);
    if (cell >= cells.count) cell -= cells.count;
    const Place corner = cells.place_of(cell);
    if (corner.x >= window.x1 || corner.y >= window.y1 || corner.x + kTileWidth <= window.x0 ||
        corner.y + cells.height() <= window.y0)
      continue;
    if (cell < cells.kept)
      search_tile(lane_candidates<true>(task, cells, cell, tile, corner, window), shared);
    else
      search_tile(lane_candidates<false>(task, cells, cell, tile, corner, window), shared);
  }
  __syncthreads();
}

}  // namespace cudavision::inpaint
