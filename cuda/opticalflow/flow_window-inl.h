// SPDX-License-Identifier: LGPL-2.1-or-later
// Sums over windows, included by the files that Highway compiles once per instruction set.
#if defined(CUDAVISION_OPTICALFLOW_FLOW_WINDOW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CUDAVISION_OPTICALFLOW_FLOW_WINDOW_INL_H_
#undef CUDAVISION_OPTICALFLOW_FLOW_WINDOW_INL_H_
#else
#define CUDAVISION_OPTICALFLOW_FLOW_WINDOW_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "cuda/opticalflow/flow_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::opticalflow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// --- vertical sums ---

// Adds (sign 1) or subtracts (sign -1) the products of row y of the level, columns [first, last).
inline void add_row(const LevelWork &work, int y, int sign, int first, int last, ColumnSums &sums) {
  const std::uint8_t *__restrict__ from = work.from.row(y);
  const std::int16_t *__restrict__ dx = work.dx.row(y), *__restrict__ dy = work.dy.row(y);
  std::int32_t *__restrict__ xx = sums.row(ColumnSums::xx), *__restrict__ xy = sums.row(ColumnSums::xy),
                             *__restrict__ yy = sums.row(ColumnSums::yy),
                             *__restrict__ xi = sums.row(ColumnSums::xi),
                             *__restrict__ yi = sums.row(ColumnSums::yi);
  for (int x = first; x < last; ++x) {
    const int gx = dx[x], gy = dy[x], i = from[x];
    xx[x] += sign * gx * gx;
    xy[x] += sign * gx * gy;
    yy[x] += sign * gy * gy;
    xi[x] += sign * gx * i;
    yi[x] += sign * gy * i;
  }
}

// A running sum over 2 radius + 1 neighbouring columns; the first sum is centred on columns[0].
template <typename Sum>
class RunningSum {
 public:
  RunningSum(const std::int32_t *columns, int radius) : next_(columns + radius + 1), side_(2 * radius + 1) {
    for (int i = -radius; i <= radius; ++i) sum_ += columns[i];
  }
  Sum value() const { return sum_; }
  void advance() {
    sum_ += static_cast<Sum>(next_[0]) - next_[-side_];
    ++next_;
  }

 private:
  const std::int32_t *next_;
  int side_;
  Sum sum_ = 0;
};

// Keeps the vertical sums up to date while the windows move down.
class SlidingColumnSums {
 public:
  // For the windows around the pixels of columns [first, last). go_to() must be called with y first, and then
  // with rows in ascending order.
  SlidingColumnSums(const LevelWork &work, int first, int last, int y, ColumnSums &sums)
      : work_(work),
        sums_(sums),
        radius_(work.rules.window / 2),
        first_(std::max(first - radius_, 0)),
        last_(std::min(last + radius_, work.from.width)),
        begin_(y - radius_),
        end_(begin_) {
    sums.clear(first - radius_, last + radius_ + 1);
  }
  // Moves the windows to row y. Derivatives are zero in the padding above and below the picture, so that its
  // rows add nothing.
  void go_to(int y) {
    for (; end_ <= y + radius_; ++end_) add_row(work_, end_, 1, first_, last_, sums_);
    for (; begin_ < y - radius_; ++begin_) add_row(work_, begin_, -1, first_, last_, sums_);
  }

 private:
  const LevelWork &work_;
  ColumnSums &sums_;
  int radius_, first_, last_;
  int begin_, end_;  // the rows [begin_, end_) that the sums contain
};

// The sums over the window of one pixel; advance() moves to the next pixel of the row.
struct WindowSums {
  RunningSum<long long> xx, xy, yy;
  RunningSum<int> xi, yi;

  WindowSums(ColumnSums &sums, int first, int radius)
      : xx(sums.row(ColumnSums::xx) + first, radius),
        xy(sums.row(ColumnSums::xy) + first, radius),
        yy(sums.row(ColumnSums::yy) + first, radius),
        xi(sums.row(ColumnSums::xi) + first, radius),
        yi(sums.row(ColumnSums::yi) + first, radius) {}
  void advance() { xx.advance(), xy.advance(), yy.advance(), xi.advance(), yi.advance(); }
  StructureTensor tensor() const { return {scaled(xx.value()), scaled(xy.value()), scaled(yy.value())}; }
};

// --- windows ---

// The window around pixel (x, y).
struct Window {
  const std::int16_t *dx, *dy;    // derivatives of the first pixel
  std::ptrdiff_t gradient_pitch;  // elements
  const std::uint8_t *from;       // the first pixel
  std::ptrdiff_t picture_pitch;
  int side;
  int x_from = 0, y_from = 0;  // the sum of (Ix, Iy) I; set by the caller

  Window(const LevelWork &work, int x, int y)
      : dx(work.dx.row(y - work.rules.window / 2) + x - work.rules.window / 2),
        dy(work.dy.row(y - work.rules.window / 2) + x - work.rules.window / 2),
        gradient_pitch(work.dx.pitch_bytes / static_cast<std::ptrdiff_t>(sizeof(std::int16_t))),
        from(work.from.row(y - work.rules.window / 2) + x - work.rules.window / 2),
        picture_pitch(work.from.pitch_bytes),
        side(work.rules.window) {}
};

// The pixel of J that the least corner of the cell moves the first pixel of the window to.
inline const std::uint8_t *displaced(const LevelWork &work, const Place &place,
                                     const DisplacementCell &cell) {
  const int radius = work.rules.window / 2;
  return work.to.row(place.y - radius + cell.y) + place.x - radius + cell.x;
}

// Computes the sums Eij of a cell: the sums of (Ix, Iy) J for its four corners, minus those of (Ix, Iy) I.
// to: the result of displaced(). Each row of gradients is multiplied with two rows of J: its own and the one
// below.
inline void correlate(const Window &window, const std::uint8_t *to, CellSums &e) {
  const hn::CappedTag<std::int16_t, 32> d;  // no window is wider
  const hn::RepartitionToWide<decltype(d)> wide;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  using Wide = hn::Vec<decltype(wide)>;
  const int lanes = static_cast<int>(hn::Lanes(d));
  Wide x00 = hn::Zero(wide), x10 = x00, x01 = x00, x11 = x00, y00 = x00, y10 = x00, y01 = x00, y11 = x00;
  Wide rest = hn::Zero(wide);  // the second accumulator that some instruction sets need
  for (int column = 0; column < window.side; column += lanes) {
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(window.side - column));
    const std::int16_t *dx = window.dx + column, *dy = window.dy + column;
    const std::uint8_t *j = to + column;
    auto gx = hn::Zero(d), gy = hn::Zero(d);
    const auto multiply_add = [&](hn::Vec<decltype(d)> gradient, hn::Vec<decltype(d)> pixels, Wide &sum)
                                  HWY_ATTR {
                                    rest = hn::Zero(wide);
                                    sum = hn::ReorderWidenMulAccumulate(wide, gradient, pixels, sum, rest);
                                    sum = hn::Add(sum, rest);
                                  };
    for (int row = 0; row <= window.side; ++row) {
      const auto j0 = hn::PromoteTo(d, hn::LoadU(bytes, j)), j1 = hn::PromoteTo(d, hn::LoadU(bytes, j + 1));
      multiply_add(gx, j0, x01), multiply_add(gx, j1, x11);  // with the gradients of the row above
      multiply_add(gy, j0, y01), multiply_add(gy, j1, y11);
      if (row == window.side) break;
      gx = hn::IfThenElseZero(inside, hn::LoadU(d, dx));
      gy = hn::IfThenElseZero(inside, hn::LoadU(d, dy));
      multiply_add(gx, j0, x00), multiply_add(gx, j1, x10);
      multiply_add(gy, j0, y00), multiply_add(gy, j1, y10);
      dx += window.gradient_pitch, dy += window.gradient_pitch, j += window.picture_pitch;
    }
  }
  const auto total = [&](Wide v) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(wide, v)); };
  e = {{total(x00) - window.x_from, total(x10) - window.x_from, total(x01) - window.x_from,
        total(x11) - window.x_from},
       {total(y00) - window.y_from, total(y10) - window.y_from, total(y01) - window.y_from,
        total(y11) - window.y_from}};
}

// Finishes the iteration of one pixel by OpticalFlowMethod::cells.
inline void finish_with_cells(const LevelWork &work, const Place &place, const Window &window, Tracker *t) {
  CellSums e{};
  DisplacementCell known{};
  for (bool none_known = true; t->running; none_known = false) {
    const DisplacementCell cell = cell_of(t->d);
    if (none_known || !is_same_cell(cell, known)) correlate(window, displaced(work, place, cell), e);
    known = cell;
    step(place, work.rules, interpolate(e, t->d), t);
  }
}

}  // namespace cudavision::opticalflow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
