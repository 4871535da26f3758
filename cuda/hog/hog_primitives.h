// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts boxes and histograms to primitives (cuda/draw/canvas.h) in the backend's memory: nothing is copied
// to the host.
#pragma once

#include "cuda/common/execution.h"
#include "cuda/draw/canvas.h"
#include "cuda/hog/hog_detector.h"

namespace cudavision {

struct HogStyle {
  int origin_x = 0, origin_y = 0;  // the top left corner of the picture within the frame, in pixels
  int line_width = 1;              // pixels
  Color color;
};
struct HogStyleRanges {
  static constexpr Range<int> line_width{1, 255};
};

// Writes the outlines of the first min(list.count->listed, capacity) boxes to primitives, which has
// `capacity` elements. Draw them with the count &list.count->listed. CUDA: enqueues one kernel. Fails if the
// line width is out of its range.
Status make_box_primitives(const Execution &execution, const HogBoxList &list, int capacity,
                           const HogStyle &style, Primitive *primitives);

// The number of primitives that make_star_primitives() writes: one line for each bin of each cell.
long long star_line_count(const HogShape &shape, const HogParams &params);
// Draws the histograms of each cell as a star. blocks: the result of Hog::run(), of this shape. Each bin is a
// line through the centre of the cell, in the direction of the edge, which is perpendicular to the gradient;
// with signed gradients the line begins at the centre. The opacity of a line is that of style.color times the
// mean of the bin over all blocks that contain the cell, divided by three times the value that the mean has
// if all numbers are equal (at most 1). The primitives of a cell are adjacent, and the most opaque ones are
// drawn last. A block that does not begin at the border of a cell does not count. Lines of opacity 0 become
// hidden primitives. CUDA: enqueues one kernel. Fails if the line width is out of its range.
Status make_star_primitives(const Execution &execution, const float *blocks, const HogShape &shape,
                            const HogParams &params, const HogStyle &style, Primitive *primitives);

}  // namespace cudavision
