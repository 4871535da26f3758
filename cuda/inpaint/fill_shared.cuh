// SPDX-License-Identifier: LGPL-2.1-or-later
// The shared memory of a block of the fill kernel.
#pragma once

#include <cuda_runtime.h>

#include "cuda/inpaint/fill_warps.cuh"
#include "cuda/inpaint/search_cells.cuh"

namespace cudavision::inpaint {

// The side of the square windows in which priorities are computed. One window holds all priorities that a patch
// changes.
CUDAVISION_HOST_DEVICE constexpr int rated_side(int radius) { return radius <= 4 ? 19 : 4 * radius + 3; }
constexpr int kMaxRatedSide = rated_side(kMaxPatchSize / 2);
static_assert(kMaxRatedSide <= 32, "a row fits into a warp");

struct QuadCounts {
  int whole, part;
};

// A window in which priorities are computed: rated_side(radius) columns and rows, in coordinates of the area. Some of
// them may lie beyond the area's borders.
struct RatedWindow {
  // The first pixel of the window, and the part of the window that lies in the area.
  Place first;
  Bounds inner;
};

// Values that depend on the place of the target.
struct TargetWindows {
  RatedWindow rated;  // holds all pixels whose priorities the target's patch changes
  Bounds searched;    // where the source is searched for, in pixels of the picture
  bool in_low_tiles;  // how `searched` is searched, see search_cells.cuh
  int first_cell;     // where the search in high tiles begins
  bool is_first;      // false in a second search for the target, in the whole picture
  // With low tiles: how many cells of the block meet `searched` and are listed in FillShared::cells. -1: they are not
  // listed, because there are more than kMostListed, or because this is a second search for the target.
  int listed;
};
constexpr int kMostListed = 64;
struct ListedCell {
  Place corner;
  int index;
};

// The shared memory of a block that does not depend on the size of the area.
struct FillShared {
  // The number of patches that have been copied.
  int patches;
  TargetWindows windows;
  Bounds last;  // RatedWindow::inner of the last target
  ListedCell cells[kMostListed];
  // Constant during the fill. It is not kept in registers, because too few would be left for the rest.
  StateLayout layout;
  TargetPatch target;
  Place place;  // of the target, for the first thread to read when `target` may be the next one
  // The quads of the target's patch, unsorted. The first QuadCounts::whole elements are those with four filled pixels;
  // they are compared first, because they add most to a sum. The last QuadCounts::part elements are the others.
  QuadCounts quad_counts;
  PatchQuad quads[kMaxQuads];
  // The least sum of a candidate that the block has found, and the best source_key() that each warp has found.
  int least_sum;
  Key found[kFillWarps];
  // How many high tiles the warps have taken in this search.
  int tiles_taken;
  // The pixel of the target's patch that each of the StateWarps' threads has to fill, as FillState::index(); -1: none.
  int unfilled[StateWarps::kThreads];
  // In the first block: the destination of copies of *FillTask::stop, and whether a copy has asked to stop the fill.
  uint4 stop;
  bool stops;
  // The argument of GridMinimum::collect().
  Key least;
  // The shifts (from target to source) of the last kFillWarps patches, unsorted.
  Shift recent[kFillWarps];
  // The best target_key() that each warp has found.
  Key best[kFillWarps];
  // The pixels of the front in the window whose priorities are being computed: row * 32 + column, in the window.
  int front_count;
  std::uint16_t front[kMaxRatedSide * 32];
};

// Scratch memory of a block, in which it computes the priorities in a RatedWindow.
struct RatingScratch {
  // The gradient_key() of each pixel of the window, and of `radius` pixels around it, in rows of
  // scratch_pitch(radius) elements. Pixels outside of the area have 0, as if they had no gradient.
  int *keys;
  // The terms on which the priority of each pixel in FillShared::front depends.
  FrontPixel *pixels;
};
CUDAVISION_HOST_DEVICE constexpr int scratch_pitch(int radius) { return rated_side(radius) + 2 * radius; }
// The bytes of RatingScratch, a multiple of 16.
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
