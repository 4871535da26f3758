// SPDX-License-Identifier: LGPL-2.1-or-later
// Iterates over a two-dimensional array without a division per element.
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

// The elements first, first + kThreads, first + 2 * kThreads, ... (row-major indices) of an array whose rows
// have `width` elements: their row, column and offset. offset is row * pitch + column, for a second array
// whose rows are `pitch` elements apart; it must fit an int, which a GPU adds in one instruction.
template <int kThreads>
class Walk {
 public:
  __device__ Walk(int width, int first, int pitch = 0)
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
  int step_, wrap_;

 public:
  int row, column;
  int offset;
};

}  // namespace cudavision
