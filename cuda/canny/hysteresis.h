// SPDX-License-Identifier: LGPL-2.1-or-later
// Hysteresis on bitmaps, 64 pixels at a time: what is reached from strong pixels through weak ones.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/canny/bitmap.h"

namespace cudavision::canny {

// The words that are still to be looked at; holds each at most once, so that it never grows.
class WorkList {
 public:
  explicit WorkList(const Bitmap &bitmap);
  WorkList(WorkList &&) = default;
  WorkList &operator=(WorkList &&) =
      default;  // and no copies: they would lose the room that is kept for all words

  bool empty() const { return words_.empty(); }
  void push(int y, int i);
  struct Word {
    int y, i;
  };
  Word pop();

 private:
  int words_per_row_;
  std::vector<std::uint32_t> words_;
  std::vector<bool> listed_;
};

// Grows edges within mask, 8-connected, over rows [first, last) alone until nothing changes: the smallest set
// that holds the old edges of those rows and every pixel of mask that touches it. Reads and writes no other
// row.
void grow_edges(const Bitmap &mask, Bitmap &edges, int first, int last, WorkList &list);

// Joins strips that grow_edges has finished: grows over the whole bitmap from the rows on both sides of each
// of the inner boundaries, ascending.
void join_strips(const Bitmap &mask, Bitmap &edges, const std::vector<int> &boundaries, WorkList &list);

}  // namespace cudavision::canny
