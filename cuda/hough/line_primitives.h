// SPDX-License-Identifier: LGPL-2.1-or-later
// Lines as primitives, made where the lines are: nothing goes through the host.
#pragma once

#include "cuda/common/execution.h"
#include "cuda/draw/canvas.h"
#include "cuda/hough/hough.h"

namespace cudavision {

struct LineStyle {
  int origin_x = 0, origin_y = 0;  // of the lines' picture within the frame, in pixels
  int line_width = 1;              // pixels, 1 to 255
  Color color;
};

// primitives [0, list.count->listed), in the backend's memory, of which there are `capacity`, become the
// lines from their first to their second end, rounded to the nearest pixel. Draw them with the count
// &list.count->listed. CUDA: enqueues one kernel.
Status make_line_primitives(const Execution &execution, const HoughList &list, int capacity,
                            const LineStyle &style, Primitive *primitives);

}  // namespace cudavision
