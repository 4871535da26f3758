// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the strengths of a strip and its halo and the extremes of its cells, marks the keypoints, and
// lists them.
#include "cuda/sigma2kp/strip_finder_cpu.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace cudavision::sigma2kp {

template <typename T>
StripFinder<T>::StripFinder(const DetectorPlan &plan, int max_rows)
    : plan_(plan),
      stride_(plan.map.width + plan.window - 1 + kRowPadding),
      strengths_(static_cast<std::size_t>(stride_) *
                 static_cast<std::size_t>(max_rows + plan.before + plan.after)),
      most_(static_cast<std::size_t>(stride_)),
      least_(most_.size()),
      sum_(most_.size()),
      squares_(most_.size()),
      marks_(most_.size() * static_cast<std::size_t>(max_rows)) {
  for (int dy = plan.first_near; dy < plan.end_near; ++dy)
    for (int dx = plan.first_near; dx < plan.end_near; ++dx)
      if (plan.is_near(dx, dy)) near_.push_back({dx, dy});
}

template <typename T>
void StripFinder<T>::find(ImageView<const std::uint8_t> luma, int first, int end,
                          Array<Sigma2Keypoint> *keypoints) {
  first_ = first, end_ = end;
  from_ = std::max(first - plan_.before, 0), to_ = std::min(end + plan_.after, plan_.map.height);
  std::fill(marks_.begin(), marks_.end(), std::uint8_t{0});
  respond_rows(luma);
  if (plan_.dense)
    mark_dense();
  else
    for (int g = 0; g < plan_.grid_count; ++g) mark_cells(plan_.grid[g]);
  list_marks(keypoints);
}

template <typename T>
void StripFinder<T>::respond_rows(ImageView<const std::uint8_t> luma) {
  const ColumnSums columns{sum_.data(), squares_.data()};
  std::fill(sum_.begin(), sum_.end(), 0u);
  std::fill(squares_.begin(), squares_.end(), 0u);
  for (int y = from_; y < from_ + plan_.window - 1; ++y)
    slide_columns(luma.row(y), nullptr, luma.width, columns);
  for (int y = from_; y < to_; ++y) {
    slide_columns(luma.row(y + plan_.window - 1), y > from_ ? luma.row(y - 1) : nullptr, luma.width, columns);
    respond(columns, plan_.window, plan_.map.width, row(y));
  }
}

// Marks the keypoints of one grid in this strip.
template <typename T>
void StripFinder<T>::mark_cells(Offset grid) {
  const int side = plan_.cell, cols = cells_along(plan_.map.width, grid.x, side);
  const int rows = cells_along(plan_.map.height, grid.y, side);
  // Begins with the first row of cells that can have a keypoint in the strip.
  for (int j = std::max(0, floor_divide(first_ - grid.y - plan_.end_near, side) + 1); j < rows; ++j) {
    const int y = grid.y + j * side;
    if (y + plan_.first_near >= end_) break;
    find_extremes(row(y) + grid.x, stride_, side, cols * side, most_.data(), least_.data());
    for (int i = 0; i < cols; ++i)
      if (const T peak = most_[static_cast<std::size_t>(i * side)];
          peak > least_[static_cast<std::size_t>(i * side)])
        mark_cell(grid.x + i * side, y, peak);
  }
}

// Most cells have no peak near their centre, so this is checked before the first peak is searched.
template <typename T>
void StripFinder<T>::mark_cell(int x, int y, T peak) {
  const bool has_near =
      std::any_of(near_.begin(), near_.end(), [&](Offset at) { return row(y + at.y)[x + at.x] == peak; });
  if (!has_near) return;
  for (int dy = 0; dy < plan_.cell; ++dy) {
    const T *strengths = row(y + dy) + x, *end = strengths + plan_.cell;
    const T *found = std::find(strengths, end, peak);
    if (found == end) continue;
    const int dx = static_cast<int>(found - strengths);
    if (plan_.is_near(dx, dy) && y + dy >= first_ && y + dy < end_) marks(y + dy)[x + dx] = 1;
    return;
  }
}

template <typename T>
void StripFinder<T>::mark_dense() {
  constexpr T kFlat = std::numeric_limits<T>::max();  // greater than any strength, so that nothing matches
  const int half = plan_.cell / 2, count = plan_.map.width - plan_.cell + 1;
  const int reach = plan_.end_near - 1;
  const int end = std::min(end_ + reach, plan_.map.height - plan_.cell + half + 1);
  for (int q = std::max(first_ - reach, half); q < end; ++q) {
    find_extremes(row(q - half), stride_, plan_.cell, count, most_.data(), least_.data());
    for (std::size_t x = 0; x < static_cast<std::size_t>(count); ++x)
      most_[x] = most_[x] > least_[x] ? most_[x] : kFlat;
    for (const Offset at : near_)
      if (const int y = q + at.y; y >= first_ && y < end_)
        mark_equal(row(y) + half + at.x, most_.data(), count, marks(y) + half + at.x);
  }
}

template <typename T>
void StripFinder<T>::list_marks(Array<Sigma2Keypoint> *keypoints) {
  for (int y = first_; y < end_; ++y) {
    const std::uint8_t *marked = marks(y);
    for (int x = 0; x < plan_.map.width; x += 8) {  // rows are padded, so that 8 marks can be read
      std::uint64_t eight;
      std::memcpy(&eight, marked + x, sizeof eight);
      if (eight == 0) continue;
      for (int i = x; i < std::min(x + 8, plan_.map.width); ++i)
        if (marked[i] != 0)
          keypoints->push_back(
              {row(y)[i], static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(y), kNoOrientation});
    }
  }
}

template class StripFinder<std::uint32_t>;
template class StripFinder<std::uint64_t>;

}  // namespace cudavision::sigma2kp
