// SPDX-License-Identifier: LGPL-2.1-or-later
// The shared memory of a block of the fill kernel.
#pragma once

#include <cuda_runtime.h>

#include "cuda/inpaint/fill_warps.cuh"
#include "cuda/inpaint/search_cells.cuh"

namespace cudavision::inpaint {

// The side of the windows in which priorities are computed: those that change with one patch fit into one.
CUDAVISION_HOST_DEVICE constexpr int rated_side(int radius) { return radius <= 4 ? 19 : 4 * radius + 3; }
constexpr int kMaxRatedSide = rated_side(kMaxPatchSize / 2);
static_assert(kMaxRatedSide <= 32, "a row fits into a warp");

struct QuadCounts {
  int whole, part;
};

// A window of which priorities are computed: rated_side(radius) columns and rows of the area, of which some may lie
// beyond its borders.
struct RatedWindow {
  // Its first pixel, and its pixels in the area.
  Place first;
  Bounds inner;
};

// What depends on the place of the target.
struct TargetWindows {
  RatedWindow rated;  // of the priorities that change
  Bounds searched;    // for the source
  bool in_low_tiles;  // see search_cells.cuh
  int first_cell;     // of the search in high tiles
  bool is_first;      // there was no other search for this target
  // How many cells of the block meet `searched`, if they are low and in FillShared::cells; -1 if there are more than
  // fit.
  int listed;
};
constexpr int kMostListed = 64;
struct ListedCell {
  Place corner;
  int index;
};

// The shared memory of a block that does not depend on the size of the area.
struct FillShared {
  // The patches that have been put.
  int patches;
  TargetWindows windows;
  Bounds last;  // RatedWindow::inner of the last target
  ListedCell cells[kMostListed];
  // The same for the whole fill. In registers, they would leave too few for the rest.
  StateLayout layout;
  TargetPatch target;
  Place place;  // of the target, for the first thread
  // The quads of the target's patch. The first QuadCounts::whole elements are those with four filled pixels; they are
  // compared first, because they tell most. The last QuadCounts::part elements are the others. Both are in no order.
  QuadCounts quad_counts;
  PatchQuad quads[kMaxQuads];
  // The least sum of a candidate that the block has found, and the best source_key() that each warp has found.
  int least_sum;
  Key found[kFillWarps];
  // The high tiles that the warps have taken.
  int tiles_taken;
  // The pixel of the target's patch that each of the StateWarps' threads has to fill, as FillState::index(); -1: none.
  int unfilled[StateWarps::kThreads];
  // In the first block: where a copy of *FillTask::stop arrives, and whether one has said that the fill shall stop.
  uint4 stop;
  bool stops;
  // Of GridMinimum::collect().
  Key least;
  // The shifts of the last kFillWarps patches, in no order.
  Shift recent[kFillWarps];
  // The best target_key() that each warp has found.
  Key best[kFillWarps];
  // The pixels of the front in a window whose priorities have to be computed: row * 32 + column.
  int front_count;
  std::uint16_t front[kMaxRatedSide * 32];
};

// Shared memory of a block, for the priorities in a window: see RatedWindow.
struct RatingScratch {
  // The gradient_key() of each pixel of the window, and of `radius` pixels around it, in rows of
  // scratch_pitch(radius) elements. Pixels outside of the area have 0, as if they had no gradient.
  int *keys;
  // Of each element of FillShared::front.
  FrontPixel *pixels;
};
CUDAVISION_HOST_DEVICE constexpr int scratch_pitch(int radius) { return rated_side(radius) + 2 * radius; }
// A multiple of 16.
CUDAVISION_HOST_DEVICE constexpr std::size_t scratch_bytes(int radius) {
  const int pitch = scratch_pitch(radius), side = rated_side(radius);
  return static_cast<std::size_t>(side * side) * sizeof(FrontPixel) +
         static_cast<std::size_t>(pitch * pitch + 3) / 4 * 16;
}
__device__ inline RatingScratch scratch_in(unsigned char *memory, int radius) {
  auto *pixels = reinterpret_cast<FrontPixel *>(memory);
  const int side = rated_side(radius);
  return {reinterpret_cast<int *>(pixels + side * side), pixels};
}
static_assert(sizeof(FrontPixel) == 16);

constexpr std::size_t kFillSharedBytes = (sizeof(FillShared) + 15) / 16 * 16;

}  // namespace cudavision::inpaint
