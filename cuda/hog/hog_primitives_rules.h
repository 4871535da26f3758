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
  HogPicture picture;
  const float *blocks;
  HogShape shape;
  Rules rules;
  bool is_signed;
  Size cells, stars;  // the numbers of cells and of stars in a row and in a column
  int side;           // of the group of cells of a star
  HogStyle style;
  std::int16_t dx[kMaxHogBins], dy[kMaxHogBins];  // from the centre of a star to the end of each bin's line
};

// Adds to each bin its mean over all blocks that contain the cell; nothing if there is none.
CUDAVISION_HOST_DEVICE inline void add_means_of_cell(const StarTask &task, int cell_x, int cell_y,
                                                     float *means) {
  const Rules &r = task.rules;
  float sums[kMaxHogBins] = {};
  int count = 0;
  for (int cx = 0; cx < r.cells_x; ++cx)
    for (int cy = 0; cy < r.cells_y; ++cy) {
      // The top left corner of the block in which this cell is cell (cx, cy).
      const int x = (cell_x - cx) * r.cell.width, y = (cell_y - cy) * r.cell.height;
      if (x < 0 || y < 0 || x % r.stride.width != 0 || y % r.stride.height != 0) continue;
      const int col = x / r.stride.width, row = y / r.stride.height;
      if (col >= task.shape.cols || row >= task.shape.rows) continue;
      const float *block =
          task.blocks + (static_cast<std::ptrdiff_t>(row) * task.shape.cols + col) * task.shape.length;
      for (int bin = 0; bin < r.bins; ++bin) sums[bin] += block[(cx * r.cells_y + cy) * r.bins + bin];
      ++count;
    }
  for (int bin = 0; bin < r.bins && count > 0; ++bin) means[bin] += sums[bin] / static_cast<float>(count);
}

// The mean of each bin over the cells of star (x, y).
CUDAVISION_HOST_DEVICE inline void take_means_of_group(const StarTask &task, int x, int y, float *means) {
  int count = 0;
  for (int bin = 0; bin < task.rules.bins; ++bin) means[bin] = 0;
  for (int cy = y * task.side; cy < (y + 1) * task.side && cy < task.cells.height; ++cy)
    for (int cx = x * task.side; cx < (x + 1) * task.side && cx < task.cells.width; ++cx) {
      add_means_of_cell(task, cx, cy, means);
      ++count;
    }
  for (int bin = 0; bin < task.rules.bins; ++bin) means[bin] /= static_cast<float>(count);
}

// |right - left| + |below - above| of the channel in which it is greatest, of the pixels at that distance. Pixels outside the
// picture are those of its border.
CUDAVISION_HOST_DEVICE inline int contrast_at(const HogPicture &picture, int x, int y, int distance) {
  const int left = x > distance ? x - distance : 0, above = y > distance ? y - distance : 0;
  const int right = x + distance < picture.width ? x + distance : picture.width - 1;
  const int below = y + distance < picture.height ? y + distance : picture.height - 1;
  int most = 0;
  for (int c = 0; c < picture.channels; ++c) {
    const Component &p = picture.component[c];
    const int dx = p.at(right, y) - p.at(left, y), dy = p.at(x, below) - p.at(x, above);
    const int contrast = (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
    most = contrast > most ? contrast : most;
  }
  return most;
}

// The weight of the contrast of star (x, y), 0 to 1.
CUDAVISION_HOST_DEVICE inline float contrast_of(const StarTask &task, int x, int y) {
  const int width = task.rules.cell.width * task.side, height = task.rules.cell.height * task.side;
  const int x0 = x * width, y0 = y * height;
  const int step_x = width < 8 ? 1 : width / 8, step_y = height < 8 ? 1 : height / 8;
  int sum = 0, count = 0;
  for (int py = y0 + step_y / 2; py < y0 + height && py < task.picture.height; py += step_y)
    for (int px = x0 + step_x / 2; px < x0 + width && px < task.picture.width; px += step_x) {
      sum += contrast_at(task.picture, px, py, task.side);
      ++count;
    }
  if (count == 0) return 0;
  const float weight = (static_cast<float>(sum) / static_cast<float>(count) - 6) / 34;
  return weight < 0 ? 0.0f : weight < 1 ? weight : 1.0f;
}

// The opacity of a line, 0 to 255.
CUDAVISION_HOST_DEVICE inline int strength_of(const StarTask &task, float mean, float contrast) {
  const float length = static_cast<float>(task.rules.length);
  // If all numbers of a descriptor are equal, each is 1 / length with the norm l1, and otherwise the square
  // root of that.
  const float unit = task.rules.norm == HogNorm::l1 ? 3.0f / length : 3.0f / sqrtf(length);
  const float share = mean / unit;
  return static_cast<int>((share < 1 ? share : 1.0f) * contrast * static_cast<float>(task.style.color.alpha) +
                          0.5f);
}

CUDAVISION_HOST_DEVICE inline Primitive shade_of(const StarTask &task) {
  const HogStyle &style = task.style;
  return make_primitive(Primitive::Kind::filled_rectangle, 1, style.shade, style.origin_x, style.origin_y,
                        style.origin_x + task.picture.width - 1, style.origin_y + task.picture.height - 1);
}

// Writes the lines of star (x, y), one per bin, sorted by opacity with the weakest first.
CUDAVISION_HOST_DEVICE inline void make_star(const StarTask &task, int x, int y, Primitive *lines) {
  const Rules &r = task.rules;
  const int width = r.cell.width * task.side, height = r.cell.height * task.side;
  const int center_x = task.style.origin_x + x * width + width / 2,
            center_y = task.style.origin_y + y * height + height / 2;
  const float contrast = contrast_of(task, x, y);
  float means[kMaxHogBins];
  take_means_of_group(task, x, y, means);
  for (int bin = 0; bin < r.bins; ++bin) {
    const int strength = strength_of(task, means[bin], contrast);
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
