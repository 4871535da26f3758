// SPDX-License-Identifier: LGPL-2.1-or-later
// The structs that the kernels of a frame share.
#pragma once

#include <cuda_runtime.h>

#include "cuda/inpaint/background_rules.h"
#include "cuda/inpaint/block_state.cuh"
#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

// How many features after the last one of the picture may be read (FillTask::features).
constexpr int kFeaturesAfter = 16;

// The columns of the arrays of a TargetPatch, for patches of every size. The centre of the patch is in column
// kTargetLeft. Both are multiples of 4, so that four columns are read as one word of 128 bits.
constexpr int kTargetColumns = 16, kTargetLeft = 8;

// Four pixels of a target's patch, side by side, of which at least one is filled. The column of the first is a multiple
// of 4. Bit k of `which` is set if pixel k is filled.
struct alignas(16) PatchQuad {
  int row, column;
  unsigned which;
};
constexpr int kMaxQuads = kMaxPatchSize * kTargetColumns / 4;

// The patch around a target. Row 0 of the arrays is the uppermost row of the patch.
struct TargetPatch {
  // The features of filled pixels, and 0 for unfilled ones.
  alignas(16) std::uint32_t feature[kMaxPatchSize][kTargetColumns];
  // Bit x is set if the pixel in column x is filled.
  unsigned filled[kMaxPatchSize];
  // Element i: the sum of the confidences of the pixels in rows 2 i and 2 i + 1.
  int confidence[(kMaxPatchSize + 1) / 2];
  // The target_key(), or 0 if no pixel of the front is left.
  Key key;
};

// The state of a frame, in global memory, double-buffered: the first kernel of a frame resets the next frame's state.
struct FrameState {
  InpaintReport report;
  // The bounds of the unfilled pixels.
  Bounds hole;
  // Not 0 if there are candidates.
  int sources;
  // The counter of the grid barrier.
  unsigned blocks_that_arrived;
  // The number of unfilled pixels after a layer of the diffusion. Successive layers take the three slots in turn.
  int left[3];
  TargetPatch target[2];

  CUDAVISION_HOST_DEVICE void reset() {
    report = {};
    hole = {1 << 30, 1 << 30, 0, 0};
    sources = 0;
    blocks_that_arrived = 0;
    for (int &slot : left) slot = 0;
  }
};

// The argument of the kernels. All arrays lie in global memory; those without a comment have one element per
// pixel in row-major order.
struct FillTask {
  FrameState *frame, *next_frame;
  InpaintParams params;
  int width, height;
  std::uint32_t *pixels;
  std::uint8_t *removed, *hole;
  // Rows of `pitch` elements, a multiple of 4. The features of kTargetLeft pixels before the picture and of
  // kFeaturesAfter behind it may be read; their values do not matter.
  int pitch;
  std::uint32_t *features;
  // Rows of `source_pitch` words with one bit per pixel, which is set if the patch around it is a candidate.
  int source_pitch;
  std::uint32_t *sources;
  // Null: patches are compared by RGB.
  const LabTables *lab;
  // Memory for the state of an area that does not fit into the shared memory of a block.
  void *state_memory;
  // The words of the GridMinimum of the fill kernel.
  Key *minima;
  int minima_count;
  // The dynamic shared memory of a block of the fill kernel, in bytes.
  int shared_bytes;
  // Candidates are at most this many columns and rows away from the target.
  int reach;
  // See bits_of_other_cells().
  int bits_of_other_cells;
  // In pinned host memory: its first word is not 0 if the fill shall stop. May be null.
  const uint4 *stop;
  FillLog log;

  // The members from here on are used only if params.temporal is set.
  Background background;
  HistoryWindow window;
  const LightChange *light;
  // Counts the pixels outside of the hole that differ from their background.
  unsigned *differing;

  CUDAVISION_HOST_DEVICE bool is_source(Place p) const {
    return (sources[p.y * source_pitch + p.x / 32] >> (p.x % 32) & 1) != 0;
  }
};

}  // namespace cudavision::inpaint
