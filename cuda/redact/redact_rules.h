// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic that both backends of redaction share: which pixels are hidden, and what replaces them.
#pragma once

#include <cmath>

#include "cuda/common/chroma.h"
#include "cuda/common/host_device.h"
#include "cuda/redact/redact.h"

namespace cudavision::redact {

// A box, grown by the dilation, and its cells. Box 0 of a Task is the whole frame: it selects no pixel, but pixels that
// a mask or `inverse` hides take their means from its cells.
struct Box {
  Region shape;                                         // may reach beyond the frame
  Region area;                                          // the part that is divided into cells
  int side = 1, columns = 0, rows = 0, first_cell = 0;  // of the cells; first_cell: index among all cells
};

// The hidden parts of a frame, in a form that kernels take as a parameter.
struct Task {
  Frame frame;
  const Box *boxes = nullptr;
  int box_count = 0;
  ImageView<const std::uint8_t> mask;    // of the frame's size; no data: no mask
  ImageView<const std::uint8_t> always;  // as `mask`, but the limit and `inverse` do not matter
  Region limit;                          // within the frame
  bool ellipse = false, inverse = false, fields = false;
  RedactMode mode = RedactMode::fill;
  Color color;
  const std::uint8_t *means = nullptr;      // for pixelate: three for each cell
  ImageView<const std::uint8_t> smooth[3];  // for blur: the smoothed components
  int smooth_step = 1;  // the side of the square of samples that shares one of their values
  ImageView<std::uint8_t> map;
};

// Pixels are hidden in groups of 2^group_shift_x x 2^group_shift_y: those that share chroma samples.
CUDAVISION_HOST_DEVICE constexpr int group_shift_x(const Task &task) { return cell_shift_x(task.frame); }
CUDAVISION_HOST_DEVICE constexpr int group_shift_y(const Task &task) {
  const int shift = cell_shift_y(task.frame);
  return shift > 0 && task.fields ? shift + 1 : shift;
}

// The masks that select pixels, in a form that kernels take as a parameter.
struct MaskSet {
  RedactMask mask[kMostRedactMasks];
  int count = 0;
};

CUDAVISION_HOST_DEVICE inline bool is_masked(const MaskSet &set, int x, int y) {
  for (int i = 0; i < set.count; ++i) {
    const RedactMask &m = set.mask[i];
    if (x < m.x || y < m.y) continue;
    const int column = (x - m.x) / m.step, row = (y - m.y) / m.step;
    if (column < m.bytes.width && row < m.bytes.height && m.bytes.row(row)[column] != 0) return true;
  }
  return false;
}

// Whether the centre of pixel (x, y) lies in the box or, if `ellipse`, in the ellipse that touches its four sides. A
// side is shorter than 2^15.6 pixels, so that nothing overflows.
CUDAVISION_HOST_DEVICE constexpr bool covers(const Region &shape, bool ellipse, int x, int y) {
  if (!contains(shape, x, y)) return false;
  if (!ellipse) return true;
  const long long dx = 2LL * (x - shape.x) + 1 - shape.width, dy = 2LL * (y - shape.y) + 1 - shape.height;
  const auto square = [](long long value) {
    const auto size = static_cast<unsigned long long>(value < 0 ? -value : value);
    return size * size;
  };
  return square(dx * shape.height) + square(dy * shape.width) <= square(1LL * shape.width * shape.height);
}

constexpr int kVisible = -1;

// Returns the index of the last box that covers the pixel, 0 if only the mask selects it, or kVisible.
CUDAVISION_HOST_DEVICE inline int selected_by(const Task &task, int x, int y) {
  if (!contains(task.limit, x, y)) return kVisible;
  for (int i = task.box_count - 1; i > 0; --i)
    if (covers(task.boxes[i].shape, task.ellipse, x, y)) return i;
  return task.mask.data != nullptr && task.mask.row(y)[x] != 0 ? 0 : kVisible;
}

// Returns the index of the box that hides the pixel, or kVisible. selected: the result of selected_by().
CUDAVISION_HOST_DEVICE inline int hidden_by(const Task &task, int selected, int x, int y) {
  const int by = !task.inverse ? selected : selected == kVisible && contains(task.limit, x, y) ? 0 : kVisible;
  return by == kVisible && task.always.data != nullptr && task.always.row(y)[x] != 0 ? 0 : by;
}

// Returns the mean of `count` samples, whose sum is `sum`.
CUDAVISION_HOST_DEVICE inline std::uint8_t mean_of(unsigned long long sum, long long count) {
  return static_cast<std::uint8_t>(rintf(static_cast<float>(sum) * (1.0f / static_cast<float>(count))));
}

// The samples of a component, divided into squares of step x step from the upper left corner on.
struct Samples {
  Component component;
  Size size;
  int step;
};

// Returns the mean of the square in this column and row of squares.
CUDAVISION_HOST_DEVICE inline std::uint8_t mean_of_square(const Samples &samples, int column, int row) {
  const Component &c = samples.component;
  const int x = column * samples.step, y = row * samples.step;
  const int right = x + samples.step < samples.size.width ? x + samples.step : samples.size.width,
            bottom = y + samples.step < samples.size.height ? y + samples.step : samples.size.height;
  unsigned long long sum = 0;
  for (int sy = y; sy < bottom; ++sy) {
    const std::uint8_t *from = c.data + sy * c.pitch_bytes;
    for (int sx = x; sx < right; ++sx) sum += from[sx * c.step_bytes];
  }
  return mean_of(sum, 1LL * (right - x) * (bottom - y));
}

// Returns the samples of component c that form a cell of the box. Cells consist of whole samples.
CUDAVISION_HOST_DEVICE inline Region samples_of_cell(const Box &box, int column, int row,
                                                     const Component &c) {
  const int x = box.area.x + column * box.side, y = box.area.y + row * box.side;
  const int right = box.area.x + box.area.width, bottom = box.area.y + box.area.height;
  const int end_x = x + box.side < right ? x + box.side : right,
            end_y = y + box.side < bottom ? y + box.side : bottom;
  return {x >> c.shift_x, y >> c.shift_y, ((end_x - 1) >> c.shift_x) - (x >> c.shift_x) + 1,
          ((end_y - 1) >> c.shift_y) - (y >> c.shift_y) + 1};
}

// Hides a group of pixels, of which (x, y) is the first. by: the box whose cells pixelate uses.
CUDAVISION_HOST_DEVICE inline void hide(const Task &task, int by, int x, int y) {
  const Box &box = task.boxes[by];
  const std::uint8_t *mean = nullptr;
  if (task.mode == RedactMode::pixelate) {
    const int column = (x - box.area.x) / box.side, row = (y - box.area.y) / box.side;
    mean = task.means + 3LL * (box.first_cell + row * box.columns + column);
  }
  const Frame &frame = task.frame;
  const int step_x = 1 << group_shift_x(task), step_y = 1 << group_shift_y(task);
  for (int i = 0; i < frame.component_count(); ++i) {
    const Component &c = frame.component[i];
    for (int py = y; py < y + step_y && py < frame.height; py += 1 << c.shift_y)
      for (int px = x; px < x + step_x && px < frame.width; px += 1 << c.shift_x)
        c.at(px, py) = task.mode == RedactMode::fill ? task.color.component[i]
                       : mean != nullptr
                           ? mean[i]
                           : task.smooth[i].row((py >> c.shift_y) /
                                                task.smooth_step)[(px >> c.shift_x) / task.smooth_step];
  }
}

}  // namespace cudavision::redact
