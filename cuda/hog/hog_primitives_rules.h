// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic that both backends of the primitives share: the outline of a box and the star of a cell.
#pragma once

#include "cuda/hog/hog_primitives.h"
#include "cuda/hog/hog_rules.h"

namespace cudavision::hog {

CUDAVISION_HOST_DEVICE constexpr Primitive primitive_of(const HogBox &box, const HogStyle &style) {
  return make_primitive(Primitive::Kind::rectangle, style.line_width, style.color, style.origin_x + box.x,
                        style.origin_y + box.y, style.origin_x + box.x + box.width - 1,
                        style.origin_y + box.y + box.height - 1);
}

struct StarTask {
  const float *blocks;
  HogShape shape;
  Rules rules;
  bool is_signed;
  Size cells;  // the number of cells in a row and in a column
  HogStyle style;
  signed char dx[kMaxHogBins], dy[kMaxHogBins];  // from the centre of a cell to the end of each bin's line
};

// The mean of a bin of a cell over all blocks that contain the cell; 0 if there is none.
CUDAVISION_HOST_DEVICE inline float mean_of_bin(const StarTask &task, int cell_x, int cell_y, int bin) {
  const Rules &r = task.rules;
  float sum = 0;
  int count = 0;
  for (int cx = 0; cx < r.cells_x; ++cx)
    for (int cy = 0; cy < r.cells_y; ++cy) {
      // The top left corner of the block in which this cell is cell (cx, cy).
      const int x = (cell_x - cx) * r.cell.width, y = (cell_y - cy) * r.cell.height;
      if (x < 0 || y < 0 || x % r.stride.width != 0 || y % r.stride.height != 0) continue;
      const int col = x / r.stride.width, row = y / r.stride.height;
      if (col >= task.shape.cols || row >= task.shape.rows) continue;
      sum += task.blocks[(static_cast<std::ptrdiff_t>(row) * task.shape.cols + col) * task.shape.length +
                         (cx * r.cells_y + cy) * r.bins + bin];
      ++count;
    }
  return count == 0 ? 0 : sum / static_cast<float>(count);
}

// The opacity of a line, 0 to 255.
CUDAVISION_HOST_DEVICE inline int strength_of(const StarTask &task, float mean) {
  const float length = static_cast<float>(task.rules.length);
  // If all numbers of a descriptor are equal, each is 1 / length with the norm l1, and otherwise the square
  // root of that.
  const float unit = task.rules.norm == HogNorm::l1 ? 3.0f / length : 3.0f / sqrtf(length);
  const float share = mean / unit;
  return static_cast<int>((share < 1 ? share : 1.0f) * static_cast<float>(task.style.color.alpha) + 0.5f);
}

// Writes the lines of cell (x, y), one per bin, sorted by opacity with the weakest first.
CUDAVISION_HOST_DEVICE inline void make_star(const StarTask &task, int x, int y, Primitive *lines) {
  const Rules &r = task.rules;
  const int center_x = task.style.origin_x + x * r.cell.width + r.cell.width / 2,
            center_y = task.style.origin_y + y * r.cell.height + r.cell.height / 2;
  for (int bin = 0; bin < r.bins; ++bin) {
    const int strength = strength_of(task, mean_of_bin(task, x, y, bin));
    Color color = task.style.color;
    color.alpha = static_cast<std::uint8_t>(strength);
    const int dx = task.dx[bin], dy = task.dy[bin];
    const Primitive line = strength == 0 ? hidden_primitive(color)
                                         : make_primitive(Primitive::Kind::line, task.style.line_width, color,
                                                          task.is_signed ? center_x : center_x - dx,
                                                          task.is_signed ? center_y : center_y - dy,
                                                          center_x + dx, center_y + dy);
    int at = bin;
    for (; at > 0 && lines[at - 1].color.alpha > strength; --at) lines[at] = lines[at - 1];
    lines[at] = line;
  }
}

}  // namespace cudavision::hog
