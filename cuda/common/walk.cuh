// SPDX-License-Identifier: LGPL-2.1-or-later
// Iterates over a two-dimensional array without a division per element.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace cudavision {

// The elements first, first + kThreads, first + 2 * kThreads, ... (row-major indices) of an array whose rows
// have `width` elements: their row, column and offset. offset is row * pitch + column, for a second array
// whose rows are `pitch` elements apart.
template <int kThreads>
class Walk {
 public:
  __device__ Walk(int width, int first, std::ptrdiff_t pitch = 0)
      : width_(width),
        row_step_(kThreads / width),
        column_step_(kThreads - row_step_ * width),
        step_(row_step_ * pitch + column_step_),
        wrap_(pitch - width),
        row(first / width),
        column(first - row * width),
        offset(row * pitch + column) {}
  __device__ void advance() {
    row += row_step_, column += column_step_, offset += step_;
    if (column >= width_) column -= width_, ++row, offset += wrap_;
  }

 private:
  int width_, row_step_, column_step_;
  std::ptrdiff_t step_, wrap_;

 public:
  int row, column;
  std::ptrdiff_t offset;
};

}  // namespace cudavision
