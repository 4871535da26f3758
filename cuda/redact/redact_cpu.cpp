// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of hiding: the threads share the rows.
#include <algorithm>

#include "cuda/redact/redact_backends.h"

namespace cudavision::redact {
namespace {

constexpr int kRowsPerTask = 16;  // even: no chroma sample belongs to two tasks

template <typename Body>
Status for_each_row(const Execution &execution, int rows, const Body &body) {
  return execution.workers->run(divide_up(rows, kRowsPerTask), [&](int task, int) {
    const int last = std::min(rows, (task + 1) * kRowsPerTask);
    for (int y = task * kRowsPerTask; y < last; ++y) body(y);
  });
}

// The first and the last pixel of row y in the shape and in the limit; none if the last one comes first.
struct Span {
  int first, last;
};
Span span_of(const Region &shape, const Task &task, int y) {
  const Region &limit = task.limit;
  if (y < limit.y || y >= limit.y + limit.height || y < shape.y || y >= shape.y + shape.height)
    return {0, -1};
  int first = shape.x, last = shape.x + shape.width - 1;  // both ends of an ellipse's row are as far away
  while (first <= last && !covers(shape, task.ellipse, first, y)) ++first, --last;
  return {std::max(first, limit.x), std::min(last, limit.x + limit.width - 1)};
}

// Hides rows of pixels that share chroma samples.
class Rows {
 public:
  Rows(const Task &task, int top)
      : task_(task),
        step_x_(1 << cell_shift_x(task.frame)),
        top_(top),
        bottom_(std::min(task.frame.height, top + (1 << cell_shift_y(task.frame)))) {}

  // What comes later hides what is hidden already, so that the last box counts.
  void hide_selected() const {
    clear_map();
    if (task_.mask.data != nullptr)
      for (int x = 0; x < task_.frame.width; x += step_x_)
        if (is_set(task_.mask, x, task_.limit)) hide_cell(0, x);
    for (int i = 1; i < task_.box_count; ++i) {
      Span all{task_.frame.width, -1};  // spans of neighbouring rows overlap
      for (int y = top_; y < bottom_; ++y) {
        const Span span = span_of(task_.boxes[i].shape, task_, y);
        if (span.first <= span.last) all = {std::min(all.first, span.first), std::max(all.last, span.last)};
      }
      for (int x = all.first / step_x_ * step_x_; x <= all.last; x += step_x_) hide_cell(i, x);
    }
  }

  // The map holds what is selected, until the pixels are hidden.
  void hide_others() const {
    clear_map();
    const Region &limit = task_.limit;
    for (int y = top_; y < bottom_; ++y) {
      std::uint8_t *row = task_.map.row(y);
      if (task_.mask.data != nullptr) std::copy_n(task_.mask.row(y), task_.frame.width, row);
      for (int i = 1; i < task_.box_count; ++i)
        if (const Span span = span_of(task_.boxes[i].shape, task_, y); span.first <= span.last)
          std::fill(row + span.first, row + span.last + 1, std::uint8_t{255});
      const bool is_limited = y < limit.y || y >= limit.y + limit.height;
      for (int x = 0; x < task_.frame.width; ++x)
        row[x] = is_limited || x < limit.x || x >= limit.x + limit.width || row[x] != 0 ? 0 : 255;
    }
    for (int x = 0; x < task_.frame.width; x += step_x_)
      if (is_set(task_.map, x, {0, 0, task_.frame.width, task_.frame.height})) hide_cell(0, x);
  }

 private:
  void clear_map() const {
    for (int y = top_; y < bottom_ && task_.map.data != nullptr; ++y)
      std::fill_n(task_.map.row(y), task_.frame.width, std::uint8_t{0});
  }
  // Whether one of the pixels from x on that share a sample is set and lies in the limit.
  bool is_set(ImageView<const std::uint8_t> bytes, int x, const Region &limit) const {
    for (int y = std::max(top_, limit.y); y < std::min(bottom_, limit.y + limit.height); ++y)
      for (int px = std::max(x, limit.x); px < std::min(x + step_x_, limit.x + limit.width); ++px)
        if (bytes.row(y)[px] != 0) return true;
    return false;
  }
  void hide_cell(int by, int x) const {
    for (int y = top_; y < bottom_ && task_.map.data != nullptr; ++y)
      std::fill_n(task_.map.row(y) + x, std::min(step_x_, task_.frame.width - x), std::uint8_t{255});
    hide(task_, by, x, top_);
  }

  const Task &task_;
  int step_x_, top_, bottom_;
};

}  // namespace

Status place_masks_cpu(const Execution &execution, const MaskSet &masks, ImageView<std::uint8_t> dst) {
  return for_each_row(execution, dst.height, [&](int y) {
    for (int x = 0; x < dst.width; ++x) dst.row(y)[x] = is_masked(masks, x, y) ? 255 : 0;
  });
}

Status take_samples_cpu(const Execution &execution, const Component &component, ImageView<std::uint8_t> dst) {
  return for_each_row(execution, dst.height, [&](int y) {
    const std::uint8_t *from = component.data + y * component.pitch_bytes;
    for (int x = 0; x < dst.width; ++x) dst.row(y)[x] = from[x * component.step_bytes];
  });
}

Status find_means_cpu(const Execution &execution, const Task &task, int, std::uint8_t *means) {
  constexpr int kMostRows = RedactRanges::cells.most;
  return execution.workers->run(task.box_count * kMostRows, [&](int number, int) {
    const Box &box = task.boxes[number / kMostRows];
    const int row = number % kMostRows;
    for (int column = 0; row < box.rows && column < box.columns; ++column)
      for (int i = 0; i < task.frame.component_count(); ++i) {
        const Component &c = task.frame.component[i];
        const Region samples = samples_of_cell(box, column, row, c);
        unsigned long long sum = 0;
        for (int y = samples.y; y < samples.y + samples.height; ++y) {
          const std::uint8_t *from = c.data + y * c.pitch_bytes + samples.x * c.step_bytes;
          unsigned of_row = 0;
          for (int x = 0; x < samples.width; ++x) of_row += from[x * c.step_bytes];
          sum += of_row;
        }
        means[3 * (box.first_cell + row * box.columns + column) + i] =
            mean_of(sum, 1LL * samples.width * samples.height);
      }
  });
}

Status hide_cpu(const Execution &execution, const Task &task) {
  const int step_y = 1 << cell_shift_y(task.frame);
  return execution.workers->run(divide_up(task.frame.height, kRowsPerTask), [&](int number, int) {
    const int last = std::min(task.frame.height, (number + 1) * kRowsPerTask);
    for (int top = number * kRowsPerTask; top < last; top += step_y) {
      const Rows rows(task, top);
      task.inverse ? rows.hide_others() : rows.hide_selected();
    }
  });
}

}  // namespace cudavision::redact
