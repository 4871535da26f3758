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
  Color shade = {};  // of make_star_primitives()
};
struct HogStyleRanges {
  static constexpr Range<int> line_width{1, 255};
};

// Writes the outlines of the first min(list.count->listed, capacity) boxes to primitives, which has
// `capacity` elements. Draw them with the count &list.count->listed. CUDA: enqueues one kernel. Fails if the
// line width is out of its range.
Status make_box_primitives(const Execution &execution, const HogBoxList &list, int capacity,
                           const HogStyle &style, Primitive *primitives);

// Stars show square groups of `side` x `side` cells, so that they can be read in large frames; cells beyond the last whole group have none,
// unless there is no whole group.
struct StarGroups {
  int side = 1;  // 1 to kMostSide
  static constexpr int kMostSide = 64;
};

// The number of lines that make_star_primitives() writes: one for each bin of each group.
long long star_line_count(const HogShape &shape, const HogParams &params, StarGroups groups);
// Draws the histograms of each group of cells as a star. picture: the one that the blocks were made of. blocks: the result of
// Hog::run(), of this shape. Each bin is a
// line through the centre of the group, in the direction of the edge, which is perpendicular to the gradient;
// with signed gradients the line begins at the centre. The opacity of a line is that of style.color times the
// mean of the bin over all cells of the group (of those without a block it is 0) and all blocks that contain them, divided by three times the value that the mean has
// if all numbers are equal (at most 1), times the contrast of the group, which blocks do not tell because they are normalised: the mean of
// |right - left| + |below - above| of pixels `side` pixels away, at up to 8x8 pixels, 0 up to 6 grey levels and 1 from 40 on. Without it flat areas would have stars of
// noise. The primitives of a group are adjacent, and the most opaque ones are
// drawn last. After star_line_count() lines follows one more primitive, a rectangle of the colour style.shade over the whole picture: drawn on its own
// before the stars, it makes them stand out. A block that does not begin at the border of a cell does not count. Lines of opacity 0 become
// hidden primitives. CUDA: enqueues one kernel. Fails if the line width or the side of a group is out of its range.
Status make_star_primitives(const Execution &execution, const HogPicture &picture, const float *blocks,
                            const HogShape &shape, const HogParams &params, StarGroups groups,
                            const HogStyle &style, Primitive *primitives);

}  // namespace cudavision
