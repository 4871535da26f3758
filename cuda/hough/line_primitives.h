// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts lines to drawing primitives in the backend's memory, without a copy to the host.
#pragma once

#include "cuda/common/execution.h"
#include "cuda/draw/canvas.h"
#include "cuda/hough/hough.h"

namespace cudavision {

struct LineStyle {
  // The position of the analysed region within the frame, in pixels.
  int origin_x = 0, origin_y = 0;
  // In pixels.
  int line_width = 1;
  // Line colours by direction: the directions of normals from 0 to pi are divided into `color_count` equal
  // parts.
  static constexpr int kMostColors = 12;
  int color_count = 1;  // 1 to kMostColors
  Color color[kMostColors] = {};
};

struct LineStyleRanges {
  static constexpr Range<int> line_width{1, 255}, color_count{1, LineStyle::kMostColors};
};

// Writes one primitive for each of the first min(list.count->listed, capacity) lines: a line from its first
// to its second end, rounded to the nearest pixel. primitives: `capacity` elements in the backend's memory.
// To draw them, pass &list.count->listed as the count. Fails if line_width or color_count is out of its
// range. CUDA: enqueues one kernel.
Status make_line_primitives(const Execution &execution, const HoughList &list, int capacity,
                            const LineStyle &style, Primitive *primitives);

}  // namespace cudavision
