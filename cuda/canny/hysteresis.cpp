// SPDX-License-Identifier: LGPL-2.1-or-later
// Hysteresis on bitmaps: a work list of words, each of which takes over what its neighbours have reached.
#include "cuda/canny/hysteresis.h"

#include <algorithm>

namespace cudavision::canny {
namespace {

// Word i of the row, widened by one pixel to both sides.
std::uint64_t widen(const std::uint64_t *row, int i) {
  const std::uint64_t word = row[i];
  return word | word << 1 | word >> 1 | row[i - 1] >> 63 | row[i + 1] << 63;
}

struct Rows {  // the rows that may be read and written
  int first, last;
};

// What word (y, i) becomes: its edges and all of its mask that touches them or a neighbour's.
std::uint64_t reach(const Bitmap &mask, const Bitmap &edges, Rows rows, int y, int i) {
  const std::uint64_t allowed = mask.row(y)[i];
  std::uint64_t near = widen(edges.row(y), i);
  if (y > rows.first) near |= widen(edges.row(y - 1), i);
  if (y + 1 < rows.last) near |= widen(edges.row(y + 1), i);
  std::uint64_t reached = edges.row(y)[i] | (near & allowed);
  for (std::uint64_t next; (next = reached | ((reached << 1 | reached >> 1) & allowed)) != reached;)
    reached = next;
  return reached;
}

// Visits the word; where it grew, its neighbours may grow too.
void visit(const Bitmap &mask, Bitmap &edges, Rows rows, int y, int i, WorkList &list) {
  std::uint64_t &word = edges.row(y)[i];
  if (word == mask.row(y)[i]) return;  // nothing left to reach: edges are a subset of the mask
  const std::uint64_t reached = reach(mask, edges, rows, y, i);
  if (reached == word) return;
  word = reached;
  for (int ny = std::max(y - 1, rows.first); ny <= std::min(y + 1, rows.last - 1); ++ny)
    for (int ni = std::max(i - 1, 0); ni <= std::min(i + 1, mask.words() - 1); ++ni)
      if (edges.row(ny)[ni] != mask.row(ny)[ni]) list.push(ny, ni);
}

void empty(const Bitmap &mask, Bitmap &edges, Rows rows, WorkList &list) {
  while (!list.empty()) {
    const auto [y, i] = list.pop();
    visit(mask, edges, rows, y, i, list);
  }
}

}  // namespace

WorkList::WorkList(const Bitmap &bitmap)
    : words_per_row_(bitmap.words()),
      listed_(static_cast<std::size_t>(bitmap.words()) * static_cast<std::size_t>(bitmap.height())) {
  words_.reserve(listed_.size());
}

void WorkList::push(int y, int i) {
  const auto word = static_cast<std::uint32_t>(y * words_per_row_ + i);
  if (listed_[word]) return;
  listed_[word] = true;
  words_.push_back(word);
}

WorkList::Word WorkList::pop() {
  const std::uint32_t word = words_.back();
  words_.pop_back();
  listed_[word] = false;
  return {static_cast<int>(word) / words_per_row_, static_cast<int>(word) % words_per_row_};
}

void grow_edges(const Bitmap &mask, Bitmap &edges, int first, int last, WorkList &list) {
  const Rows rows{first, last};
  for (int y = first; y < last; ++y)
    for (int i = 0; i < mask.words(); ++i) visit(mask, edges, rows, y, i, list);
  empty(mask, edges, rows, list);
}

void join_strips(const Bitmap &mask, Bitmap &edges, const std::vector<int> &boundaries, WorkList &list) {
  const Rows rows{0, mask.height()};
  for (const int boundary : boundaries)
    for (const int y : {boundary - 1, boundary})
      for (int i = 0; i < mask.words(); ++i) visit(mask, edges, rows, y, i, list);
  empty(mask, edges, rows, list);
}

}  // namespace cudavision::canny
