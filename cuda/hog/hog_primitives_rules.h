// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic that both backends of the primitives share: the outlines and labels of boxes, and stars.
#pragma once

#include "cuda/hog/hog_primitives.h"
#include "cuda/hog/hog_rules.h"

namespace cudavision::hog {

CUDAVISION_HOST_DEVICE constexpr Primitive primitive_of(const HogBox &box, const HogStyle &style) {
  return make_primitive(Primitive::Kind::rectangle, style.line_width, style.color, style.origin_x + box.x,
                        style.origin_y + box.y, style.origin_x + box.x + box.width - 1,
                        style.origin_y + box.y + box.height - 1);
}

// Where the primitives of boxes are written to, and how they look.
struct BoxDrawing {
  HogStyle style;
  HogLabels labels;
  Primitive *primitives;
  int *count;
};

CUDAVISION_HOST_DEVICE constexpr Region place_of(const HogBox &box, const HogStyle &style) {
  return {style.origin_x + box.x, style.origin_y + box.y, box.width, box.height};
}

CUDAVISION_HOST_DEVICE constexpr Size label_pixels(const HogBox &box, const HogLabels &labels) {
  return label_pixels(label_length(labels.text, label_number(box.score)), labels.style);
}

CUDAVISION_HOST_DEVICE constexpr LabelPlaces places_of_label(const HogBox &box, const BoxDrawing &drawing) {
  return LabelPlaces(place_of(box, drawing.style), label_pixels(box, drawing.labels), drawing.labels.style);
}

// Writes the primitives of the label of box i after those of all `boxes` boxes and of the labels of earlier boxes.
// place: the pixels of the frame that the label covers.
CUDAVISION_HOST_DEVICE constexpr void make_label_of_box(const HogBox &box, int i, int boxes,
                                                        const Region &place, const BoxDrawing &drawing) {
  const HogLabels &labels = drawing.labels;
  make_label(labels.text, &box.score, place, labels.style,
             drawing.primitives + boxes + i * label_size(labels.text.length, true));
}

struct StarTask {
  HogPicture picture;
  const float *blocks;
  HogShape shape;
  Rules rules;
  bool is_signed;
  Size cells, stars;  // the numbers of cells and of stars in a row and in a column
  int side;           // each star shows side x side cells
  float full_mean;    // the least mean of a bin whose line has full opacity
  HogStyle style;
  std::int16_t dx[kMaxHogBins], dy[kMaxHogBins];  // from the centre of a star to the end of each bin's line
};

// For i < count, adds to means[i] the mean of bin first + i over all blocks that contain the cell, if there are any.
template <int kMost>
CUDAVISION_HOST_DEVICE void add_means_of_cell(const StarTask &task, int cell_x, int cell_y, int first,
                                              int count, float (&means)[kMost]) {
  const Rules &r = task.rules;
  float sums[kMost] = {};
  int blocks = 0;
  for (int cx = 0; cx < r.cells_x; ++cx)
    for (int cy = 0; cy < r.cells_y; ++cy) {
      // The top left corner of the block in which this cell is cell (cx, cy).
      const int x = (cell_x - cx) * r.cell.width, y = (cell_y - cy) * r.cell.height;
      if (x < 0 || y < 0 || x % r.stride.width != 0 || y % r.stride.height != 0) continue;
      const int col = x / r.stride.width, row = y / r.stride.height;
      if (col >= task.shape.cols || row >= task.shape.rows) continue;
      const float *block =
          task.blocks + (static_cast<std::ptrdiff_t>(row) * task.shape.cols + col) * task.shape.length;
      for (int i = 0; i < count; ++i) sums[i] += block[(cx * r.cells_y + cy) * r.bins + first + i];
      ++blocks;
    }
  for (int i = 0; i < count && blocks > 0; ++i) means[i] += sums[i] / static_cast<float>(blocks);
}

// Sets means[i] to the mean of bin first + i over the cells of star (x, y), for i < count <= kMost. The CPU backend
// computes all bins in one call, a CUDA thread only one.
template <int kMost>
CUDAVISION_HOST_DEVICE void take_means_of_star(const StarTask &task, int x, int y, int first, int count,
                                               float (&means)[kMost]) {
  int cells = 0;
  for (int i = 0; i < count; ++i) means[i] = 0;
  for (int cy = y * task.side; cy < (y + 1) * task.side && cy < task.cells.height; ++cy)
    for (int cx = x * task.side; cx < (x + 1) * task.side && cx < task.cells.width; ++cx) {
      add_means_of_cell(task, cx, cy, first, count, means);
      ++cells;
    }
  for (int i = 0; i < count; ++i) means[i] /= static_cast<float>(cells);
}

// Returns |right - left| + |below - above| of the pixels at `distance` from (x, y), in the channel in which this is
// greatest. For pixels outside the picture, pixels at its border are used.
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

// The pixels at which the contrast of a star is measured: a grid of at most 8 x 8 or, where the star is not a multiple
// of 8 pixels wide or high, 15 x 15.
struct ContrastGrid {
  int x0, y0, step_x, step_y, cols, rows;
};

CUDAVISION_HOST_DEVICE inline ContrastGrid contrast_grid(const StarTask &task, int x, int y) {
  const int width = task.rules.cell.width * task.side, height = task.rules.cell.height * task.side;
  const int step_x = width < 8 ? 1 : width / 8, step_y = height < 8 ? 1 : height / 8;
  const int x0 = x * width + step_x / 2, y0 = y * height + step_y / 2;
  const int x1 = (x + 1) * width < task.picture.width ? (x + 1) * width : task.picture.width;
  const int y1 = (y + 1) * height < task.picture.height ? (y + 1) * height : task.picture.height;
  return {x0,
          y0,
          step_x,
          step_y,
          x0 < x1 ? (x1 - x0 + step_x - 1) / step_x : 0,
          y0 < y1 ? (y1 - y0 + step_y - 1) / step_y : 0};
}

// The sum of contrast_at() over every `stride`-th pixel of the grid, from pixel number `first` on.
CUDAVISION_HOST_DEVICE inline int contrast_sum(const StarTask &task, const ContrastGrid &grid, int first,
                                               int stride) {
  int sum = 0;
  for (int i = first; i < grid.cols * grid.rows; i += stride) {
    const int row = i / grid.cols, col = i - row * grid.cols;
    sum += contrast_at(task.picture, grid.x0 + col * grid.step_x, grid.y0 + row * grid.step_y, task.side);
  }
  return sum;
}

// The factor, 0 to 1, for the opacity of a star with the contrast_sum() `sum`.
CUDAVISION_HOST_DEVICE inline float contrast_weight(const ContrastGrid &grid, int sum) {
  const int count = grid.cols * grid.rows;
  if (count == 0) return 0;
  const float weight = (static_cast<float>(sum) / static_cast<float>(count) - 6) / 34;
  return weight < 0 ? 0.0f : weight < 1 ? weight : 1.0f;
}

// The opacity of a line. mean: the mean of its bin. contrast: contrast_weight() of its star.
CUDAVISION_HOST_DEVICE inline std::uint8_t strength_of(const StarTask &task, float mean, float contrast) {
  const float share = mean / task.full_mean;
  return static_cast<std::uint8_t>(
      (share < 1 ? share : 1.0f) * contrast * static_cast<float>(task.style.color.alpha) + 0.5f);
}

// The place of a bin among the bins of its star, sorted by strength, the weakest first, and then by number.
CUDAVISION_HOST_DEVICE inline int rank_of(const std::uint8_t *strengths, int bins, int bin) {
  int rank = 0;
  for (int i = 0; i < bins; ++i) rank += strengths[i] + (i < bin ? 0 : 1) <= strengths[bin];
  return rank;
}

CUDAVISION_HOST_DEVICE inline Primitive line_of(const StarTask &task, int x, int y, int bin,
                                                std::uint8_t strength) {
  Color color = task.style.color;
  color.alpha = strength;
  if (strength == 0) return hidden_primitive(color);
  const int width = task.rules.cell.width * task.side, height = task.rules.cell.height * task.side;
  const int center_x = task.style.origin_x + x * width + width / 2,
            center_y = task.style.origin_y + y * height + height / 2;
  const int dx = task.dx[bin], dy = task.dy[bin];
  return make_primitive(Primitive::Kind::line, task.style.line_width, color,
                        task.is_signed ? center_x : center_x - dx, task.is_signed ? center_y : center_y - dy,
                        center_x + dx, center_y + dy);
}

CUDAVISION_HOST_DEVICE inline Primitive shade_of(const StarTask &task) {
  const HogStyle &style = task.style;
  return make_primitive(Primitive::Kind::filled_rectangle, 1, style.shade, style.origin_x, style.origin_y,
                        style.origin_x + task.picture.width - 1, style.origin_y + task.picture.height - 1);
}

}  // namespace cudavision::hog
