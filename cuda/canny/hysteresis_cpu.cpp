// SPDX-License-Identifier: LGPL-2.1-or-later
// Hysteresis on bitmaps. A work list holds the words whose neighbours have grown; visiting a word adds the
// mask's pixels that touch an edge.
#include "cuda/canny/hysteresis_cpu.h"

#include <algorithm>

namespace cudavision::canny {
namespace {

// Word i of the row, dilated by one pixel to the left and to the right.
std::uint64_t widen(const std::uint64_t *row, int i) {
  const std::uint64_t word = row[i];
  return word | word << 1 | word >> 1 | row[i - 1] >> 63 | row[i + 1] << 63;
}

// The rows [first, last), which may be read and written.
struct RowRange {
  int first, last;
};

// The new edges of word (y, i): its edges, and all pixels of its mask that are connected to them or to edges
// of the neighbouring words.
std::uint64_t reach(const Bitmap &mask, const Bitmap &edges, RowRange rows, int y, int i) {
  const std::uint64_t allowed = mask.row(y)[i];
  std::uint64_t near = widen(edges.row(y), i);
  if (y > rows.first) near |= widen(edges.row(y - 1), i);
  if (y + 1 < rows.last) near |= widen(edges.row(y + 1), i);
  std::uint64_t reached = edges.row(y)[i] | (near & allowed);
  for (std::uint64_t next; (next = reached | ((reached << 1 | reached >> 1) & allowed)) != reached;)
    reached = next;
  return reached;
}

// Updates the edges of one word. If they grow, lists the word and its neighbours that can still grow.
void visit(const Bitmap &mask, Bitmap &edges, RowRange rows, int y, int i, WorkList &list) {
  std::uint64_t &word = edges.row(y)[i];
  if (word == mask.row(y)[i]) return;  // cannot grow: edges are a subset of the mask
  const std::uint64_t reached = reach(mask, edges, rows, y, i);
  if (reached == word) return;
  word = reached;
  for (int ny = std::max(y - 1, rows.first); ny <= std::min(y + 1, rows.last - 1); ++ny)
    for (int ni = std::max(i - 1, 0); ni <= std::min(i + 1, mask.words_per_row() - 1); ++ni)
      if (edges.row(ny)[ni] != mask.row(ny)[ni]) list.push(ny, ni);
}

// Visits the listed words until the list is empty.
void drain(const Bitmap &mask, Bitmap &edges, RowRange rows, WorkList &list) {
  while (!list.empty()) {
    const auto [y, i] = list.pop();
    visit(mask, edges, rows, y, i, list);
  }
}

}  // namespace

WorkList::WorkList(const Bitmap &bitmap)
    : words_per_row_(bitmap.words_per_row()),
      listed_(static_cast<std::size_t>(bitmap.words_per_row()) * static_cast<std::size_t>(bitmap.height())) {
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
  const RowRange rows{first, last};
  for (int y = first; y < last; ++y)
    for (int i = 0; i < mask.words_per_row(); ++i) visit(mask, edges, rows, y, i, list);
  drain(mask, edges, rows, list);
}

void join_strips(const Bitmap &mask, Bitmap &edges, int strips, WorkList &list) {
  const RowRange rows{0, mask.height()};
  for (int strip = 1; strip < strips; ++strip) {
    const int boundary = first_row(mask.height(), strip, strips);
    for (const int y : {boundary - 1, boundary})
      for (int i = 0; i < mask.words_per_row(); ++i) visit(mask, edges, rows, y, i, list);
  }
  drain(mask, edges, rows, list);
}

}  // namespace cudavision::canny
