// SPDX-License-Identifier: LGPL-2.1-or-later
// Paints a map of numbers over a frame of every format, on both backends, the same pixels on both.
#pragma once

#include <cstdint>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"

namespace cudavision {

constexpr int kMaxMapColors = 360;

// By value; alpha is not looked at: the map replaces the picture.
struct ColorMap {
  int count = 0;  // of colours, 1 to kMaxMapColors
  Color colors[kMaxMapColors];
  Color dark;  // of elements without strength
};

// Elements in the backend's memory, [rows][cols] each. With indices an element has the colour of its index,
// mixed with dark by its value, 0 dark to 1 the colour alone. Without, its value between low and high, of
// which low may be the larger, chooses a colour from the first to the last. Values outside are brought to the
// nearer end; indices are below the colours' count.
struct MapElements {
  int rows = 0, cols = 0;
  const std::uint16_t *indices = nullptr;
  const float *values = nullptr;
  float low = 0, high = 1;
};

// Element (i, j) covers step_y x step_x pixels, from (x + j step_x, y + i step_y) on. What lies outside of
// clip, which lies within the frame, is not painted.
struct MapPlace {
  int x = 0, y = 0, step_x = 1, step_y = 1;
  Region clip;
};

// A subsampled chroma sample takes the colour of the first pixel painted that belongs to it. Alpha and
// padding stay. CUDA: enqueues one kernel.
Status paint_color_map(const Execution &execution, const Frame &frame, const MapElements &elements,
                       const MapPlace &place, const ColorMap &map);

}  // namespace cudavision
