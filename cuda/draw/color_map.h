// SPDX-License-Identifier: LGPL-2.1-or-later
// Paints a map of numbers over a frame of any pixel format. Both backends give the same bytes.
#pragma once

#include <cstdint>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"

namespace cudavision {

constexpr int kMaxMapColors = 360;

// The colours of a map. Passed by value to kernels. Alpha is ignored: the map replaces the picture.
struct ColorMap {
  int count = 0;  // the number of colours, 1 to kMaxMapColors
  Color colors[kMaxMapColors];
  Color dark;  // the colour of elements of value 0 in a map with indices
};

// The elements of a map: arrays [rows][cols] in the backend's memory. With indices, an element has the colour
// colors[index], blended with `dark` by its value: 0 gives `dark`, 1 gives the colour itself. Each index must be less
// than ColorMap::count. Without indices (null), the value selects a colour: `low` selects the first one and `high` the
// last one; low may be greater than high. Values outside their range are clamped; NaN is treated as the lower end.
struct MapElements {
  int rows = 0, cols = 0;
  const std::uint16_t *indices = nullptr;
  const float *values = nullptr;
  float low = 0, high = 1;
};

// Where a map is painted: the element in row i and column j covers step_x x step_y pixels, whose first one is
// (x + j step_x, y + i step_y). Pixels outside `clip`, which must lie within the frame, are not painted.
struct MapPlace {
  int x = 0, y = 0, step_x = 1, step_y = 1;
  Region clip;
};

// A subsampled chroma sample takes the colour of its first painted pixel in row-major order. Alpha and padding bytes do
// not change. Fails if clip is empty or leaves the frame, if the map has no elements, if a step is less than 1, if
// map.count is out of its range or if low equals high. CUDA: enqueues one kernel, or none if no pixel is painted.
Status paint_color_map(const Execution &execution, const Frame &frame, const MapElements &elements,
                       const MapPlace &place, const ColorMap &map);

}  // namespace cudavision
