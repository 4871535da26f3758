// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts boxes and histograms to primitives (cuda/draw/canvas.h) in the backend's memory: nothing is copied
// to the host.
#pragma once

#include "cuda/common/execution.h"
#include "cuda/draw/canvas.h"
#include "cuda/draw/label.h"
#include "cuda/hog/hog_detector.h"

namespace cudavision {

struct HogStyle {
  int origin_x = 0, origin_y = 0;  // the top left corner of the picture within the frame, in pixels
  int line_width = 1;              // pixels
  Color color;
  Color shade = {};  // of the rectangle that make_star_primitives() makes
};
struct HogStyleRanges {
  static constexpr Range<int> line_width{1, 255};
};

// The label of each box: the text and the score.
struct HogLabels {
  bool shown = false;
  LabelText text;
  LabelStyle style;
};
// The number of primitives of a box.
CUDAVISION_HOST_DEVICE constexpr int primitives_per_box(const HogLabels &labels) {
  return 1 + (labels.shown ? label_size(labels.text.length, true) : 0);
}

// Writes the outlines of the first min(list.count->listed, capacity) boxes to primitives, then their labels, which are
// thus drawn on top. primitives: room for capacity * primitives_per_box() elements. *count, in the backend's memory,
// becomes the number of primitives to draw. CUDA: enqueues one kernel. Fails if the line width is out of its range.
Status make_box_primitives(const Execution &execution, const HogBoxList &list, int capacity,
                           const HogStyle &style, const HogLabels &labels, Primitive *primitives, int *count);

// A star shows a square group of `side` x `side` cells, so that stars can be read in large frames. Cells to
// the right of the last whole group, or below it, have no star, unless there is no whole group at all.
struct StarGroups {
  int side = 1;  // 1 to kMostSide
  static constexpr int kMostSide = 64;
};

// The number of lines that make_star_primitives() writes: one for each bin of each group.
long long star_line_count(const HogShape &shape, const HogParams &params, StarGroups groups);

// Draws the histograms of each group of cells as a star: each bin is a line through the centre of the group,
// in the direction of the edge, which is perpendicular to the gradient. With signed gradients the line begins
// at the centre. The lines of a group are adjacent, and the most opaque ones come last.
//
// picture: the picture that the blocks were computed from. blocks: the result of Hog::run(), of this shape. primitives:
// star_line_count() lines, and after them a rectangle of the colour style.shade over the whole picture. If the
// rectangle is drawn before the stars, they stand out.
//
// The opacity of a line is the product of
// - that of style.color;
// - the mean of the bin, divided by three times the mean of a flat histogram, at most 1. The mean is taken
//   over the cells of the group and, for each cell, over the blocks that contain it; it is 0 in a cell
//   without a block. A block that does not begin at the border of a cell does not count;
// - the contrast of the group, because blocks are normalised: without it, the noise of flat areas would give stars. It
//   is the mean of |right - left| + |below - above|, of pixels at a distance of `side`, over a grid in the group; 6
//   grey levels or fewer count as 0, and 40 or more as 1.
//
// Lines of opacity 0 become hidden primitives. CUDA: enqueues one kernel. Fails if the line width or the side of a
// group is out of its range.
Status make_star_primitives(const Execution &execution, const HogPicture &picture, const float *blocks,
                            const HogShape &shape, const HogParams &params, StarGroups groups,
                            const HogStyle &style, Primitive *primitives);

}  // namespace cudavision
