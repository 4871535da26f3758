// SPDX-License-Identifier: LGPL-2.1-or-later
// Keypoints as primitives, made where the keypoints are: nothing goes through the host.
#pragma once

#include "cuda/common/execution.h"
#include "cuda/draw/canvas.h"
#include "cuda/sigma2kp/sigma2kp.h"

namespace cudavision {

struct PointStyle {
  int origin_x = 0, origin_y = 0;  // of the keypoints' picture within the frame, in pixels
  int window = 5;                  // as in Sigma2KpParams
  int orientation_bins = 36;       // as in Sigma2KpParams
  int size = 3;  // 1 to 255 pixels: a cross reaches so far to each side, an orientation four times as far
  int line_width = 1;  // pixels, 1 to 255
  Color color;
};

// primitives [0, 2 n), in the backend's memory, with room for 2 capacity, become those of the n listed
// keypoints, at most capacity: keypoint i, at the pixel left of and above its centre where that lies between
// pixels, is a cross without orientation, or a point three lines wide (at most 255 pixels) and a line from it
// toward its orientation, which ends at the nearest pixel. *drawn becomes 2 n: draw them with it. CUDA:
// enqueues one kernel.
Status make_point_primitives(const Execution &execution, const Sigma2List &list, int capacity,
                             const PointStyle &style, Primitive *primitives, int *drawn);

}  // namespace cudavision
