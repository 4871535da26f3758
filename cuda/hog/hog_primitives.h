// SPDX-License-Identifier: LGPL-2.1-or-later
// Boxes and stars of orientations as primitives, made where they are: nothing goes through the host.
#pragma once

#include "cuda/common/execution.h"
#include "cuda/draw/canvas.h"
#include "cuda/hog/detector.h"

namespace cudavision {

struct HogStyle {
  int origin_x = 0, origin_y = 0;  // of the picture within the frame, in pixels
  int line_width = 1;              // pixels, 1 to 255
  Color color;
};

// primitives [0, list.count->listed), of which there are `capacity`, become the outlines of the boxes. Draw
// them with the count &list.count->listed. CUDA: enqueues one kernel.
Status make_box_primitives(const Execution &execution, const HogBoxList &list, int capacity,
                           const HogStyle &style, Primitive *primitives);

// Of a picture whose blocks are `shape`: a line for each bin of each cell.
long long star_line_count(const HogShape &shape, const HogParams &params);
// blocks: what Hog::run wrote. The lines of a cell go through its centre along the edges that its bins stand
// for; of signed orientations they begin there. A line's opacity is that of the colour times its bin's mean
// over the blocks that hold the cell, in units of three times what equal numbers would be; the strongest lie
// above. Where a block does not begin on a cell's border, or nothing is to be seen, primitives are hidden.
// CUDA: enqueues one kernel.
Status make_star_primitives(const Execution &execution, const float *blocks, const HogShape &shape,
                            const HogParams &params, const HogStyle &style, Primitive *primitives);

}  // namespace cudavision
