// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the strengths of a strip and its halo and the extremes of its cells, marks the keypoints, and lists them.
// Some loops are plain C++ because the compiler vectorises them well.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/sigma2kp/strip_finder_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "cuda/sigma2kp/strip_finder_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::sigma2kp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Adds a row of pixels to the sums of columns, and subtracts another row unless leaving is null.
void slide_columns(const std::uint8_t *__restrict__ entering, const std::uint8_t *__restrict__ leaving,
                   int width, std::uint32_t *__restrict__ sum, std::uint32_t *__restrict__ squares) {
  if (leaving == nullptr) {
    for (int x = 0; x < width; ++x) {
      const std::uint32_t in = entering[x];
      sum[x] += in;
      squares[x] += in * in;
    }
    return;
  }
  for (int x = 0; x < width; ++x) {
    // in^2 - out^2 as a product, which fits a signed int.
    const int in = entering[x], out = leaving[x];
    sum[x] += static_cast<std::uint32_t>(in - out);
    squares[x] += static_cast<std::uint32_t>((in - out) * (in + out));
  }
}

// Computes the strengths of `count` windows side by side from the sums of their columns.
template <typename T>
void respond(const std::uint32_t *columns, const std::uint32_t *square_columns, int window, int count,
             T *strengths) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto area = hn::Set(d, static_cast<std::uint32_t>(window * window));
  for (int x = 0; x < count; x += lanes) {
    auto sum = hn::LoadU(d, columns + x), squares = hn::LoadU(d, square_columns + x);
    for (int i = 1; i < window; ++i) {
      sum = hn::Add(sum, hn::LoadU(d, columns + x + i));
      squares = hn::Add(squares, hn::LoadU(d, square_columns + x + i));
    }
    if constexpr (sizeof(T) == 4) {
      hn::StoreU(hn::Sub(hn::Mul(area, squares), hn::Mul(sum, sum)), d, strengths + x);
    } else {
      std::uint32_t s[16], q[16];
      hn::StoreU(sum, d, s);
      hn::StoreU(squares, d, q);
      for (int i = 0; i < lanes; ++i)
        strengths[x + i] = static_cast<T>(window * window) * q[i] - static_cast<T>(s[i]) * s[i];
    }
  }
}

// Sets most[x] and least[x] to the maximum and the minimum of the square of length x length elements whose
// top left element is column x of the first row, for x in [0, count). Rows are `stride` elements apart and
// must have at least count + length columns, padding included.
template <typename T>
void find_extremes(const T *rows, std::ptrdiff_t stride, int length, int count, T *__restrict__ most,
                   T *__restrict__ least) {
  const hn::CappedTag<T, 16> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), columns = count + length;
  for (int x = 0; x < columns; x += lanes) {
    auto high = hn::LoadU(d, rows + x), low = high;
    for (int row = 1; row < length; ++row) {
      const auto v = hn::LoadU(d, rows + row * stride + x);
      high = hn::Max(high, v);
      low = hn::Min(low, v);
    }
    hn::StoreU(high, d, most + x);
    hn::StoreU(low, d, least + x);
  }
  // Extremes of 1, 2, 4, ... columns; the last step combines two overlapping ranges. Each element is read
  // before it is overwritten.
  for (int have = 1; have < length;) {
    const int step = std::min(have, length - have);
    for (int x = 0; x < columns; x += lanes) {
      hn::StoreU(hn::Max(hn::LoadU(d, most + x), hn::LoadU(d, most + x + step)), d, most + x);
      hn::StoreU(hn::Min(hn::LoadU(d, least + x), hn::LoadU(d, least + x + step)), d, least + x);
    }
    have += step;
  }
}

// Sets marks[x] to 1 if strengths[x] == peaks[x], and leaves it unchanged otherwise.
template <typename T>
void mark_equal(const T *__restrict__ strengths, const T *__restrict__ peaks, int count,
                std::uint8_t *__restrict__ marks) {
  for (int x = 0; x < count; ++x) marks[x] |= static_cast<std::uint8_t>(strengths[x] == peaks[x]);
}

// T: the type of a strength.
template <typename T>
class StripFinder {
 public:
  // The strip has the rows [first, end).
  StripFinder(StripMemory<T> &memory, int first, int end)
      : m_(memory),
        first_(first),
        end_(end),
        from_(std::max(first - memory.plan.before, 0)),
        to_(std::min(end + memory.plan.after, memory.plan.map.height)) {}

  void find(ImageView<const std::uint8_t> luma, Array<Sigma2Keypoint> *keypoints) {
    std::fill(m_.marks.begin(), m_.marks.end(), std::uint8_t{0});
    respond_rows(luma);
    if (m_.plan.dense)
      mark_dense();
    else
      for (int g = 0; g < m_.plan.grid_count; ++g) mark_cells(m_.plan.grid[g]);
    list_marks(keypoints);
  }

 private:
  T *row(int y) { return m_.strengths.data() + static_cast<std::ptrdiff_t>(y - from_) * m_.stride; }
  std::uint8_t *marks(int y) { return m_.marks.data() + static_cast<std::ptrdiff_t>(y - first_) * m_.stride; }

  void respond_rows(ImageView<const std::uint8_t> luma) {
    std::fill(m_.sums.begin(), m_.sums.end(), 0u);
    std::fill(m_.squares.begin(), m_.squares.end(), 0u);
    for (int y = from_; y < from_ + m_.plan.window - 1; ++y)
      slide_columns(luma.row(y), nullptr, luma.width, m_.sums.data(), m_.squares.data());
    for (int y = from_; y < to_; ++y) {
      slide_columns(luma.row(y + m_.plan.window - 1), y > from_ ? luma.row(y - 1) : nullptr, luma.width,
                    m_.sums.data(), m_.squares.data());
      respond(m_.sums.data(), m_.squares.data(), m_.plan.window, m_.plan.map.width, row(y));
    }
  }

  // Marks the keypoints of one grid in this strip.
  [[gnu::flatten]] void mark_cells(Offset grid) {
    const int side = m_.plan.cell, cols = cells_along(m_.plan.map.width, grid.x, side);
    const int rows = cells_along(m_.plan.map.height, grid.y, side);
    // Begins with the first row of cells that can have a keypoint in the strip.
    for (int j = std::max(0, floor_divide(first_ - grid.y - m_.plan.end_near, side) + 1); j < rows; ++j) {
      const int y = grid.y + j * side;
      if (y + m_.plan.first_near >= end_) break;
      find_extremes(row(y) + grid.x, m_.stride, side, cols * side, m_.most.data(), m_.least.data());
      for (int i = 0; i < cols; ++i)
        if (const T peak = m_.most[static_cast<std::size_t>(i * side)];
            peak > m_.least[static_cast<std::size_t>(i * side)])
          mark_cell(grid.x + i * side, y, peak);
    }
  }

  // Most cells have no peak near their centre, so this is checked before the first peak is searched.
  void mark_cell(int x, int y, T peak) {
    bool has_near = false;
    for (const Offset at : m_.near) has_near |= row(y + at.y)[x + at.x] == peak;
    if (!has_near) return;
    for (int dy = 0; dy < m_.plan.cell; ++dy) {
      const T *strengths = row(y + dy) + x, *end = strengths + m_.plan.cell;
      const T *found = std::find(strengths, end, peak);
      if (found == end) continue;
      const int dx = static_cast<int>(found - strengths);
      if (m_.plan.is_near(dx, dy) && y + dy >= first_ && y + dy < end_) marks(y + dy)[x + dx] = 1;
      return;
    }
  }

  void mark_dense() {
    constexpr T kFlat = std::numeric_limits<T>::max();  // greater than any strength, so that nothing matches
    const int half = m_.plan.cell / 2, count = m_.plan.map.width - m_.plan.cell + 1;
    const int reach = m_.plan.end_near - 1;
    const int end = std::min(end_ + reach, m_.plan.map.height - m_.plan.cell + half + 1);
    for (int q = std::max(first_ - reach, half); q < end; ++q) {
      find_extremes(row(q - half), m_.stride, m_.plan.cell, count, m_.most.data(), m_.least.data());
      for (std::size_t x = 0; x < static_cast<std::size_t>(count); ++x)
        m_.most[x] = m_.most[x] > m_.least[x] ? m_.most[x] : kFlat;
      for (const Offset at : m_.near)
        if (const int y = q + at.y; y >= first_ && y < end_)
          mark_equal(row(y) + half + at.x, m_.most.data(), count, marks(y) + half + at.x);
    }
  }

  void list_marks(Array<Sigma2Keypoint> *keypoints) {
    for (int y = first_; y < end_; ++y) {
      const std::uint8_t *marked = marks(y);
      for (int x = 0; x < m_.plan.map.width; x += 8) {  // rows are padded, so that 8 marks can be read
        std::uint64_t eight;
        std::memcpy(&eight, marked + x, sizeof eight);
        if (eight == 0) continue;
        for (int i = x; i < std::min(x + 8, m_.plan.map.width); ++i)
          if (marked[i] != 0)
            keypoints->push_back(
                {row(y)[i], static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(y), kNoOrientation});
      }
    }
  }

  StripMemory<T> &m_;
  int first_, end_;
  int from_, to_;  // the rows of the strip and its halo, whose strengths are computed
};

void find32(StripMemory<std::uint32_t> &memory, ImageView<const std::uint8_t> luma, int first, int end,
            Array<Sigma2Keypoint> *keypoints) {
  StripFinder(memory, first, end).find(luma, keypoints);
}
void find64(StripMemory<std::uint64_t> &memory, ImageView<const std::uint8_t> luma, int first, int end,
            Array<Sigma2Keypoint> *keypoints) {
  StripFinder(memory, first, end).find(luma, keypoints);
}

}  // namespace cudavision::sigma2kp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudavision::sigma2kp {

HWY_EXPORT(find32);
HWY_EXPORT(find64);

void find_in_strip(StripMemory<std::uint32_t> &memory, ImageView<const std::uint8_t> luma, int first, int end,
                   Array<Sigma2Keypoint> *keypoints) {
  HWY_DYNAMIC_DISPATCH(find32)(memory, luma, first, end, keypoints);
}
void find_in_strip(StripMemory<std::uint64_t> &memory, ImageView<const std::uint8_t> luma, int first, int end,
                   Array<Sigma2Keypoint> *keypoints) {
  HWY_DYNAMIC_DISPATCH(find64)(memory, luma, first, end, keypoints);
}

}  // namespace cudavision::sigma2kp
#endif
