// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts keypoints to drawing primitives in the backend's memory, without a copy to the host.
#pragma once

#include "cuda/common/execution.h"
#include "cuda/draw/canvas.h"
#include "cuda/sigma2kp/sigma2kp.h"

namespace cudavision {

struct PointStyle {
  // The position of the analysed region within the frame, in pixels.
  int origin_x = 0, origin_y = 0;
  // As in Sigma2KpParams.
  int window = 5;
  int orientation_bins = 36;
  // The length of the arms of a cross in pixels. The line of an orientation is four times as long.
  int size = 3;
  // Arms and lines grow with the standard deviation of the window: at 64 grey levels they are twice as long,
  // at 96 and above three times.
  bool grows = false;
  // In grey levels. Keypoints whose windows have a smaller standard deviation are hidden.
  float least_deviation = 0;
  // In pixels.
  int line_width = 1;
  Color color = {};
};

struct PointStyleRanges {
  static constexpr Range<int> size{1, 255};
  static constexpr Range<int> line_width{1, 255};
};

// Writes two primitives for each of the first n = min(list.count->listed, capacity) keypoints. A keypoint without
// orientation becomes a cross and a hidden primitive; a hidden keypoint becomes two hidden primitives. A keypoint with
// an orientation becomes a point of three line widths (at most 255 pixels) and a line from this point in the direction
// of the orientation, whose end is rounded to the nearest pixel. Crosses and points are placed at the centre of the
// window, or half a pixel left of and above it if the centre is between pixels. primitives: 2 * capacity elements in
// the backend's memory. drawn: in the backend's memory; set to 2 * n, the count to pass when drawing. Fails if the
// style is out of range. CUDA: enqueues one kernel.
Status make_point_primitives(const Execution &execution, const Sigma2KpList &list, int capacity,
                             const PointStyle &style, Primitive *primitives, int *drawn);

}  // namespace cudavision
