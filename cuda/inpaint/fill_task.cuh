// SPDX-License-Identifier: LGPL-2.1-or-later
// The structs that the kernels of a frame share.
#pragma once

#include <cuda_runtime.h>

#include "cuda/inpaint/background_rules.h"
#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

// A target_key() or source_key(), in the type that atomics take.
using Key = unsigned long long;

// The filled pixels of the patch around a target.
struct TargetPatch {
  // The target_key(), or 0 if no pixel of the front is left.
  Key key;
  int count;
  // The offset of each pixel from the centre, in pixels of the whole picture in row-major order.
  int offset[kMaxPatchPixels];
  std::uint32_t feature[kMaxPatchPixels];
};

// The state of one frame, in global memory, double-buffered: the first kernel of a frame resets the state of
// the next frame.
struct FrameState {
  InpaintReport report;
  // The bounds of the unfilled pixels.
  Bounds hole;
  // Not 0 if there are candidates.
  int sources;
  // The counter of the grid barrier.
  unsigned blocks_that_arrived;
  // The best source_key() of a search. Successive searches take the three slots in turn.
  Key best[3];
  // The number of unfilled pixels after a layer of the diffusion. Successive layers take the three slots in
  // turn.
  int left[3];
  TargetPatch target;

  CUDAVISION_HOST_DEVICE void reset() {
    report = {};
    hole = {1 << 30, 1 << 30, 0, 0};
    sources = 0;
    blocks_that_arrived = 0;
    for (int i = 0; i < 3; ++i) best[i] = kNoSource, left[i] = 0;
  }
};

// The argument of the kernels. All arrays lie in global memory; those without a comment have one element per
// pixel in row-major order.
struct FillTask {
  FrameState *frame, *next_frame;
  InpaintParams params;
  int width, height;
  std::uint32_t *pixels, *features;
  std::uint8_t *removed, *hole, *sources;
  // Null: patches are compared by RGB.
  const LabTables *lab;
  // For areas that do not fit into the shared memory of a block.
  FillState global_state;
  // The dynamic shared memory of a block.
  int shared_bytes;
  FillLog log;

  // Used if params.temporal is set.
  Background background;
  HistoryWindow window;
  const LightChange *light;
};

}  // namespace cudavision::inpaint
