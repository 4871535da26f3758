// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of redaction (hiding parts of a frame): the threads share the rows.
#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdint>

#include "cuda/common/backends.h"
#include "cuda/redact/redact_backends.h"

namespace cudavision::redact {
namespace {

constexpr int kRowsPerTask = 16;  // a multiple of 4: no chroma sample belongs to two tasks

// Returns the first pixel of row y in the ellipse that touches the four sides of `shape`. The square root gives a start
// that is less than a pixel too early; from there, covers(), which is exact, decides.
int first_of_ellipse(const Region &shape, int y) {
  const double height = shape.height, dy = 2.0 * (y - shape.y) + 1 - height;
  const double half = shape.width * std::sqrt(std::max(0.0, height * height - dy * dy)) / height;
  const int middle = shape.x + (shape.width - 1) / 2;
  int first = shape.x + static_cast<int>((shape.width - half) / 2);
  first = std::clamp(first, shape.x, middle + 1);
  while (first <= middle && !covers(shape, true, first, y)) ++first;
  return first;
}

// The pixels [first, last] of row y that lie in the shape and in the limit; none if last < first.
struct Span {
  int first, last;
};
Span span_of(const Region &shape, const Task &task, int y) {
  const Region &limit = task.limit;
  if (y < limit.y || y >= limit.y + limit.height || y < shape.y || y >= shape.y + shape.height)
    return {0, -1};
  const int first = task.ellipse ? first_of_ellipse(shape, y) : shape.x;
  const int last = 2 * shape.x + shape.width - 1 - first;  // a row of an ellipse is symmetric
  return {std::max(first, limit.x), std::min(last, limit.x + limit.width - 1)};
}

// Hides pixels in the rows of pixels that share chroma samples with row `top`, the first of them.
class Rows {
 public:
  Rows(const Task &task, int top)
      : task_(task),
        step_x_(1 << group_shift_x(task)),
        top_(top),
        bottom_(std::min(task.frame.height, top + (1 << group_shift_y(task)))) {}

  // Hides the selected cells (pixels that share a chroma sample): each by the last box that covers it, and the
  // remaining ones by the masks.
  void hide_selected() const {
    clear_map();
    std::bitset<kMaxSide> hidden;  // cells, each of which is hidden only once, however many boxes cover it
    for (int i = task_.box_count - 1; i > 0; --i) {
      Span all{task_.frame.width, -1};  // the union of the rows' spans, which overlap
      for (int y = top_; y < bottom_; ++y) {
        const Span span = span_of(task_.boxes[i].shape, task_, y);
        if (span.first <= span.last) all = {std::min(all.first, span.first), std::max(all.last, span.last)};
      }
      for (int x = all.first / step_x_ * step_x_; x <= all.last; x += step_x_) {
        if (!hidden[static_cast<std::size_t>(x)]) hide_cell(i, x);
        hidden.set(static_cast<std::size_t>(x));
      }
    }
    if (task_.mask.data == nullptr && task_.always.data == nullptr) return;
    const Region frame{0, 0, task_.frame.width, task_.frame.height};
    for (int x = 0; x < task_.frame.width; x += step_x_)
      if (!hidden[static_cast<std::size_t>(x)] &&
          (is_set(task_.mask, x, task_.limit) || is_set(task_.always, x, frame)))
        hide_cell(0, x);
  }

  // Hides the pixels that are not selected (`inverse`). The map first holds the selected pixels, then the others.
  void hide_others() const {
    clear_map();
    const Region &limit = task_.limit;
    for (int y = top_; y < bottom_; ++y) {
      std::uint8_t *row = task_.map.row(y);
      if (task_.mask.data != nullptr) std::copy_n(task_.mask.row(y), task_.frame.width, row);
      for (int i = 1; i < task_.box_count; ++i) {
        const Span span = span_of(task_.boxes[i].shape, task_, y);
        for (int x = span.first; x <= span.last; ++x) row[x] = 255;
      }
      const bool is_limited = y < limit.y || y >= limit.y + limit.height;
      for (int x = 0; x < task_.frame.width; ++x)
        row[x] = is_limited || x < limit.x || x >= limit.x + limit.width || row[x] != 0 ? 0 : 255;
      for (int x = 0; task_.always.data != nullptr && x < task_.frame.width; ++x)
        row[x] |= task_.always.row(y)[x];
    }
    for (int x = 0; x < task_.frame.width; x += step_x_)
      if (is_set(task_.map, x, {0, 0, task_.frame.width, task_.frame.height})) hide_cell(0, x);
  }

 private:
  void clear_map() const {
    for (int y = top_; y < bottom_ && task_.map.data != nullptr; ++y)
      std::fill_n(task_.map.row(y), task_.frame.width, std::uint8_t{0});
  }
  // Whether `bytes`, if there are any, are not 0 at a pixel that lies in the limit and in the cell from column x on.
  bool is_set(ImageView<const std::uint8_t> bytes, int x, const Region &limit) const {
    if (bytes.data == nullptr) return false;
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
  return execution.workers->run_rows(dst.height, kRowsPerTask, [&](int y, int) {
    for (int x = 0; x < dst.width; ++x) dst.row(y)[x] = is_masked(masks, x, y) ? 255 : 0;
  });
}

Status take_means_cpu(const Execution &execution, const Samples &samples, ImageView<std::uint8_t> dst) {
  return execution.workers->run_rows(dst.height, kRowsPerTask, [&](int y, int) {
    for (int x = 0; x < dst.width; ++x) dst.row(y)[x] = mean_of_square(samples, x, y);
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
  const int step_y = 1 << group_shift_y(task);
  return execution.workers->run_strips(task.frame.height, kRowsPerTask, [&](int first, int end, int) {
    for (int top = first; top < end && !execution.workers->stopped(); top += step_y) {
      const Rows rows(task, top);
      task.inverse ? rows.hide_others() : rows.hide_selected();
    }
  });
}

}  // namespace cudavision::redact
