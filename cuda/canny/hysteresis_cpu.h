// SPDX-License-Identifier: LGPL-2.1-or-later
// Hysteresis on bitmaps, 64 pixels at a time: finds the weak pixels that are connected to strong ones.
#pragma once

#include <cstdint>

#include "cuda/canny/bitmap_cpu.h"
#include "cuda/common/memory_budget.h"

namespace cudavision::canny {

// The work list of hysteresis: words of a bitmap that still have to be visited. It holds each word at most once, so
// that the memory reserved at construction suffices. It cannot be copied, because a copy would lose that capacity.
class WorkList {
 public:
  struct Word {
    int y, i;  // row, and index in the row
  };

  explicit WorkList(const Bitmap &bitmap);
  WorkList(WorkList &&) = default;
  WorkList &operator=(WorkList &&) = default;

  bool empty() const { return words_.empty(); }
  // Does nothing if the word is in the list.
  void push(int y, int i);
  Word pop();

 private:
  int words_per_row_;
  Array<std::uint32_t> words_;
  Array<bool> listed_;
};

// Grows edges within mask, 8-connected, inside rows [first, last), until nothing changes. The result is the
// smallest set that holds the initial edges of these rows and every pixel of mask that touches the set. Reads
// and writes no other row. edges must be a subset of mask.
void grow_edges(const Bitmap &mask, Bitmap &edges, int first, int last, WorkList &list);

// The first row of strip i, if a picture of this height is divided into `strips` strips of rows.
constexpr int first_row(int height, int i, int strips) {
  return static_cast<int>(static_cast<long long>(height) * i / strips);
}

// Joins all strips of rows, for which grow_edges() has run: grows edges in the whole bitmap, from the rows on both
// sides of each boundary.
void join_strips(const Bitmap &mask, Bitmap &edges, int strips, WorkList &list);

}  // namespace cudavision::canny
