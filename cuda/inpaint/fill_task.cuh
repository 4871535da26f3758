// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels of a frame work on, and hand to one another.
#pragma once

#include <cuda_runtime.h>

#include "cuda/inpaint/background_rules.h"
#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

using Key = unsigned long long;  // of target_key() and source_key(), as atomics have it

// The filled pixels of a target's patch.
struct TargetPatch {
  Key key;  // target_key(), 0: there is none left
  int count;
  int offset[kMaxPatchPixels];  // pixels from the middle, in the whole picture's rows
  std::uint32_t feature[kMaxPatchPixels];
};

// Of a frame. Two take turns: the first kernel of a frame makes the other one ready for the next.
struct FrameState {
  InpaintReport report;
  Bounds hole;  // of the unfilled pixels
  int sources;  // not 0: there are candidates
  unsigned blocks_that_arrived;
  Key best[3];  // source_key() of three searches in turn
  int left[3];  // unfilled pixels after three layers in turn
  TargetPatch target;

  CUDAVISION_HOST_DEVICE void reset() {
    report = {};
    hole = {1 << 30, 1 << 30, 0, 0};
    sources = 0;
    blocks_that_arrived = 0;
    for (int i = 0; i < 3; ++i) best[i] = kNoSource, left[i] = 0;
  }
};

struct FillTask {
  FrameState *frame, *next_frame;
  InpaintParams params;
  int width, height;
  std::uint32_t *pixels, *features;
  std::uint8_t *removed, *hole, *sources;
  const LabTables *lab;  // null: RGB is compared
  FillState global;      // for areas that do not fit into shared memory
  int shared_bytes;      // of a block, in all
  FillLog log;

  Background background;
  Moment moment;
  const LightChange *light;
};

}  // namespace cudavision::inpaint
