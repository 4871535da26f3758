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

// Adds the products of rows [first_added, last_added) of the level to the sums of columns [first, last), and subtracts
// those of rows [first_removed, last_removed). Each sum is loaded and stored once. The sums of up to a SIMD vector of
// columns after the last one are changed, too.
inline void slide(const LevelWork &work, int first_added, int last_added, int first_removed, int last_removed,
                  int first, int last, ColumnSums &sums) {
  const hn::CappedTag<std::int32_t, 16> d;
  const hn::Rebind<std::int16_t, decltype(d)> shorts;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const int lanes = static_cast<int>(hn::Lanes(d));
  static_assert(PaddedImage<int>::kColumns >= 16);
  const auto at = [&sums](ColumnSums::Kind kind, int x) { return sums.row(kind) + x; };
  for (int x = first; x < last; x += lanes) {
    auto xx = hn::LoadU(d, at(ColumnSums::xx, x)), xy = hn::LoadU(d, at(ColumnSums::xy, x)),
         yy = hn::LoadU(d, at(ColumnSums::yy, x)), xi = hn::LoadU(d, at(ColumnSums::xi, x)),
         yi = hn::LoadU(d, at(ColumnSums::yi, x));
    const auto gx = [&](int y) HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(shorts, work.dx.row(y) + x)); };
    const auto gy = [&](int y) HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(shorts, work.dy.row(y) + x)); };
    const auto pixel = [&](int y)
                           HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(bytes, work.from.row(y) + x)); };
    for (int y = first_added; y < last_added; ++y) {
      const auto a = gx(y), b = gy(y), i = pixel(y);
      xx = hn::Add(xx, hn::Mul(a, a)), xy = hn::Add(xy, hn::Mul(a, b)), yy = hn::Add(yy, hn::Mul(b, b));
      xi = hn::Add(xi, hn::Mul(a, i)), yi = hn::Add(yi, hn::Mul(b, i));
    }
    for (int y = first_removed; y < last_removed; ++y) {
      const auto a = gx(y), b = gy(y), i = pixel(y);
      xx = hn::Sub(xx, hn::Mul(a, a)), xy = hn::Sub(xy, hn::Mul(a, b)), yy = hn::Sub(yy, hn::Mul(b, b));
      xi = hn::Sub(xi, hn::Mul(a, i)), yi = hn::Sub(yi, hn::Mul(b, i));
    }
    hn::StoreU(xx, d, at(ColumnSums::xx, x)), hn::StoreU(xy, d, at(ColumnSums::xy, x));
    hn::StoreU(yy, d, at(ColumnSums::yy, x)), hn::StoreU(xi, d, at(ColumnSums::xi, x));
    hn::StoreU(yi, d, at(ColumnSums::yi, x));
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
  // For the windows around the pixels of columns [first, last). go_to() must be called with y first, and then with rows
  // in ascending order.
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
  // Moves the windows to row y. Derivatives are zero in the padding above and below the picture: its rows add nothing.
  void go_to(int y) {
    const int begin = y - radius_, end = y + radius_ + 1;
    // Removes only rows that have been added.
    slide(work_, std::max(end_, begin), end, begin_, std::min(begin, end_), first_, last_, sums_);
    begin_ = begin, end_ = end;
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
  const std::int16_t *dx, *dy;    // point to Ix and Iy, the derivatives, at the window's first pixel
  std::ptrdiff_t gradient_pitch;  // elements from one row of derivatives to the next
  const std::uint8_t *from;       // points to the window's first pixel, in I (LevelWork::from)
  std::ptrdiff_t picture_pitch;
  int side;
  int x_from = 0, y_from = 0;  // the sums over the window of Ix I and of Iy I; set by the caller

  Window(const LevelWork &work, int x, int y)
      : dx(work.dx.row(y - work.rules.window / 2) + x - work.rules.window / 2),
        dy(work.dy.row(y - work.rules.window / 2) + x - work.rules.window / 2),
        gradient_pitch(work.dx.pitch_bytes / static_cast<std::ptrdiff_t>(sizeof(std::int16_t))),
        from(work.from.row(y - work.rules.window / 2) + x - work.rules.window / 2),
        picture_pitch(work.from.pitch_bytes),
        side(work.rules.window) {}
};

// The pixel of J to which (cell.x, cell.y), the smallest displacement of the cell, moves the window's first pixel.
inline const std::uint8_t *displaced(const LevelWork &work, const Place &place,
                                     const DisplacementCell &cell) {
  const int radius = work.rules.window / 2;
  return work.to.row(place.y - radius + cell.y) + place.x - radius + cell.x;
}

using ShortTag = hn::CappedTag<std::int16_t, 32>;  // no window is wider
using WideTag = hn::RepartitionToWide<ShortTag>;
using Shorts = hn::Vec<ShortTag>;
using Wide = hn::Vec<WideTag>;

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void sums_of_lanes(Wide a, Wide b, Wide c, Wide d, int minus, int (&sum)[4]) {
  const Wide all[4] = {a, b, c, d};
  for (int k = 0; k < 4; ++k) sum[k] = hn::GetLane(all[k]) - minus;
}
#else
// Adds up the blocks of 128 bits that v consists of.
template <typename D>
HWY_INLINE hn::Vec<hn::Full128<std::int32_t>> sum_of_blocks(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// Computes the sums over the lanes of a, of b, of c and of d, and subtracts `minus` from each.
HWY_INLINE void sums_of_lanes(Wide a, Wide b, Wide c, Wide d, int minus, int (&sum)[4]) {
  const WideTag wide;
  const hn::Repartition<std::int64_t, WideTag> pairs;
  const hn::Full128<std::int32_t> four;
  const auto fold = [&](Wide v, Wide w) HWY_ATTR {
    return hn::BitCast(pairs, hn::Add(hn::InterleaveLower(wide, v, w), hn::InterleaveUpper(wide, v, w)));
  };
  const auto ab = fold(a, b), cd = fold(c, d);
  const auto sums = sum_of_blocks(wide, hn::Add(hn::BitCast(wide, hn::InterleaveLower(pairs, ab, cd)),
                                                hn::BitCast(wide, hn::InterleaveUpper(pairs, ab, cd))));
  hn::StoreU(hn::Sub(sums, hn::Set(four, minus)), four, sum);
}
#endif

// Sums over the window of the products of Ix (x..) and Iy (y..) with J, for the four corners of a cell: 00 is the pixel
// of J, 10 the one to its right, 01 the one below, 11 the one below to the right.
struct CornerSums {
  Wide x00, x10, x01, x11, y00, y10, y01, y11;

  HWY_INLINE CornerSums() { x00 = x10 = x01 = x11 = y00 = y10 = y01 = y11 = hn::Zero(WideTag()); }
  static HWY_INLINE void multiply_add(Shorts a, Shorts b, Wide &sum) {
    Wide rest = hn::Zero(WideTag());  // the second accumulator that some instruction sets need
    sum = hn::ReorderWidenMulAccumulate(WideTag(), a, b, sum, rest);
    sum = hn::Add(sum, rest);
  }
  HWY_INLINE void add(Shorts gx, Shorts gy, Shorts j, Shorts right, Shorts below, Shorts below_right) {
    multiply_add(gx, j, x00), multiply_add(gx, right, x10);
    multiply_add(gy, j, y00), multiply_add(gy, right, y10);
    multiply_add(gx, below, x01), multiply_add(gx, below_right, x11);
    multiply_add(gy, below, y01), multiply_add(gy, below_right, y11);
  }
  HWY_INLINE CellSums minus(int x_from, int y_from) const {
    CellSums e;
    sums_of_lanes(x00, x10, x01, x11, x_from, e.x);
    sums_of_lanes(y00, y10, y01, y11, y_from, e.y);
    return e;
  }
};

// Computes the Eij of a cell (flow_rules.h): the sums of Ix J and of Iy J for its four corners, minus those of Ix I and
// of Iy I. to: the result of displaced(). Each row of derivatives is multiplied by its own row of J and the one below.
inline CellSums correlate_rows(const Window &window, const std::uint8_t *to) {
  const ShortTag d;
  const hn::Rebind<std::uint8_t, ShortTag> bytes;
  const int lanes = static_cast<int>(hn::Lanes(d));
  CornerSums sums;
  for (int column = 0; column < window.side; column += lanes) {
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(window.side - column));
    const std::int16_t *dx = window.dx + column, *dy = window.dy + column;
    const std::uint8_t *j = to + column;
    const auto load = [&](const std::uint8_t *p) HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(bytes, p)); };
    Shorts here = load(j), right = load(j + 1);
    for (int row = 0; row < window.side; ++row) {
      j += window.picture_pitch;
      const Shorts below = load(j), below_right = load(j + 1);
      sums.add(hn::IfThenElseZero(inside, hn::LoadU(d, dx)), hn::IfThenElseZero(inside, hn::LoadU(d, dy)),
               here, right, below, below_right);
      here = below, right = below_right;
      dx += window.gradient_pitch, dy += window.gradient_pitch;
    }
  }
  return sums.minus(window.x_from, window.y_from);
}

#if HWY_MAX_BYTES >= 64 && !HWY_HAVE_SCALABLE
// As correlate_rows(), but takes two rows at once, of windows that are at most half as wide as a vector.
inline CellSums correlate_pairs_of_rows(const Window &window, const std::uint8_t *to) {
  const ShortTag d;
  const hn::Half<ShortTag> half;
  const hn::Rebind<std::uint8_t, decltype(half)> bytes;
  const auto inside = hn::FirstN(half, static_cast<std::size_t>(window.side));
  const auto pixels = [&](const std::uint8_t *p)
                          HWY_ATTR { return hn::PromoteTo(half, hn::LoadU(bytes, p)); };
  const auto gradients = [&](const std::int16_t *p)
                             HWY_ATTR { return hn::IfThenElseZero(inside, hn::LoadU(half, p)); };
  const std::int16_t *dx = window.dx, *dy = window.dy;
  CornerSums sums;
  auto here = pixels(to), right = pixels(to + 1);
  for (int row = 0; row < window.side; row += 2) {
    // The number of rows is odd, so the last row has no second one.
    const bool both = row + 1 < window.side;
    to += window.picture_pitch;
    const auto below = pixels(to), below_right = pixels(to + 1);
    if (both) to += window.picture_pitch;
    const auto next = pixels(to), next_right = pixels(to + 1);
    const auto gx = gradients(dx), gy = gradients(dy);
    const auto gx_below = both ? gradients(dx + window.gradient_pitch) : hn::Zero(half),
               gy_below = both ? gradients(dy + window.gradient_pitch) : hn::Zero(half);
    sums.add(hn::Combine(d, gx_below, gx), hn::Combine(d, gy_below, gy), hn::Combine(d, below, here),
             hn::Combine(d, below_right, right), hn::Combine(d, next, below),
             hn::Combine(d, next_right, below_right));
    dx += 2 * window.gradient_pitch, dy += 2 * window.gradient_pitch;
    here = next, right = next_right;
  }
  return sums.minus(window.x_from, window.y_from);
}

inline CellSums correlate(const Window &window, const std::uint8_t *to) {
  return window.side <= 16 ? correlate_pairs_of_rows(window, to) : correlate_rows(window, to);
}
#else
inline CellSums correlate(const Window &window, const std::uint8_t *to) { return correlate_rows(window, to); }
#endif

}  // namespace cudavision::opticalflow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
