// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised inner loops of the CPU backend, compiled once per instruction set by Highway. Loops that the compiler
// vectorises by itself are left to it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "opticalflow/flow_rows.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>

#include "opticalflow/flow_rows.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::opticalflow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void derive_rows(ImageView<const std::uint8_t> level, int first, int last, ImageView<std::int16_t> dx,
                 ImageView<std::int16_t> dy) {
  for (int y = first; y < last; ++y) {
    const std::uint8_t *rows[3] = {level.row(y - 1), level.row(y), level.row(y + 1)};
    std::int16_t *__restrict__ out_x = dx.row(y), *__restrict__ out_y = dy.row(y);
    for (int x = 0; x < level.width; ++x) {
      const auto at = [&](int i, int j) HWY_ATTR { return int{rows[1 + j][x + i]}; };
      out_x[x] = static_cast<std::int16_t>(scharr_x(at));
      out_y[x] = static_cast<std::int16_t>(scharr_y(at));
    }
  }
}

void shrink_rows(ImageView<const std::uint8_t> level, int first, int last, ImageView<std::uint8_t> next) {
  constexpr int kChunk = 256;  // pixels of the next level whose column sums are at hand
  std::int16_t sums[2 * kChunk + 3];
  for (int y = first; y < last; ++y) {
    const std::uint8_t *rows[5];
    for (int k = 0; k < 5; ++k) rows[k] = level.row(2 * y + k - 2);
    for (int x0 = 0; x0 < next.width; x0 += kChunk) {
      const int count = std::min(kChunk, next.width - x0), begin = 2 * x0 - 2;
      for (int i = 0; i < 2 * count + 3; ++i)
        sums[i] =
            static_cast<std::int16_t>(smooth_5(rows[0][begin + i], rows[1][begin + i], rows[2][begin + i],
                                               rows[3][begin + i], rows[4][begin + i]));
      std::uint8_t *__restrict__ out = next.row(y) + x0;
      for (int i = 0; i < count; ++i) {
        const std::int16_t *s = sums + 2 * i;
        out[i] = static_cast<std::uint8_t>((smooth_5(s[0], s[1], s[2], s[3], s[4]) + 128) >> 8);
      }
    }
  }
}

// --- sums over columns ---

// Adds (sign 1) or takes away (-1) row y of the level.
void add_row(const LevelWork &work, int y, int sign, ColumnSums &sums) {
  const std::uint8_t *__restrict__ from = work.from.row(y);
  const std::int16_t *__restrict__ dx = work.dx.row(y), *__restrict__ dy = work.dy.row(y);
  std::int32_t *__restrict__ xx = sums.row(ColumnSums::xx), *__restrict__ xy = sums.row(ColumnSums::xy),
                             *__restrict__ yy = sums.row(ColumnSums::yy),
                             *__restrict__ xi = sums.row(ColumnSums::xi),
                             *__restrict__ yi = sums.row(ColumnSums::yi);
  for (int x = 0; x < work.from.width; ++x) {
    const int gx = dx[x], gy = dy[x], i = from[x];
    xx[x] += sign * gx * gx;
    xy[x] += sign * gx * gy;
    yy[x] += sign * gy * gy;
    xi[x] += sign * gx * i;
    yi[x] += sign * gy * i;
  }
}

// A running sum of a row of column sums over 2 radius + 1 of them.
template <typename Sum>
class RunningSum {
 public:
  RunningSum(const std::int32_t *columns, int radius) : columns_(columns), radius_(radius), sum_(0) {
    for (int x = -radius; x <= radius; ++x) sum_ += columns[x];
  }
  Sum value() const { return sum_; }
  // From around x to around x + 1.
  void advance(int x) { sum_ += static_cast<Sum>(columns_[x + radius_ + 1]) - columns_[x - radius_]; }

 private:
  const std::int32_t *columns_;
  int radius_;
  Sum sum_;
};

// --- sums over windows ---

// The window around (x, y), and what is known of it.
struct Window {
  const std::int16_t *dx, *dy;    // its first pixel
  std::ptrdiff_t gradient_pitch;  // elements
  const std::uint8_t *from;
  std::ptrdiff_t picture_pitch;
  int side;
  int x_from, y_from;  // sum (Ix, Iy) I
};

// Sums of (Ix, Iy) J for the four whole displacements of a cell. to: J at the window's first pixel displaced. Each row of
// gradients meets two rows of J: its own and the one below.
void correlate(const Window &window, const std::uint8_t *to, CellSums &e) {
  const hn::CappedTag<std::int16_t, 32> d;  // no window is wider
  const hn::RepartitionToWide<decltype(d)> wide;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  using Wide = hn::Vec<decltype(wide)>;
  const int lanes = static_cast<int>(hn::Lanes(d));
  Wide x00 = hn::Zero(wide), x10 = x00, x01 = x00, x11 = x00, y00 = x00, y10 = x00, y01 = x00, y11 = x00;
  Wide rest = hn::Zero(wide);  // of pairs, where an instruction set sums them in two vectors
  for (int column = 0; column < window.side; column += lanes) {
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(window.side - column));
    const std::int16_t *dx = window.dx + column, *dy = window.dy + column;
    const std::uint8_t *j = to + column;
    auto gx = hn::Zero(d), gy = hn::Zero(d);
    const auto meet = [&](hn::Vec<decltype(d)> gradient, hn::Vec<decltype(d)> pixels, Wide &sum) HWY_ATTR {
      rest = hn::Zero(wide);
      sum = hn::ReorderWidenMulAccumulate(wide, gradient, pixels, sum, rest);
      sum = hn::Add(sum, rest);
    };
    for (int row = 0; row <= window.side; ++row) {
      const auto j0 = hn::PromoteTo(d, hn::LoadU(bytes, j)), j1 = hn::PromoteTo(d, hn::LoadU(bytes, j + 1));
      meet(gx, j0, x01), meet(gx, j1, x11);  // of the row above
      meet(gy, j0, y01), meet(gy, j1, y11);
      if (row == window.side) break;
      gx = hn::IfThenElseZero(inside, hn::LoadU(d, dx));
      gy = hn::IfThenElseZero(inside, hn::LoadU(d, dy));
      meet(gx, j0, x00), meet(gx, j1, x10);
      meet(gy, j0, y00), meet(gy, j1, y10);
      dx += window.gradient_pitch, dy += window.gradient_pitch, j += window.picture_pitch;
    }
  }
  const auto total = [&](Wide v) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(wide, v)); };
  e = {{total(x00) - window.x_from, total(x10) - window.x_from, total(x01) - window.x_from,
        total(x11) - window.x_from},
       {total(y00) - window.y_from, total(y10) - window.y_from, total(y01) - window.y_from,
        total(y11) - window.y_from}};
}

// Sum (Ix, Iy) (J(q + d) - I(q)), as FlowMethod::plain has it.
FlowVector sum_directly(const Window &window, const std::uint8_t *to, const Cell &cell) {
  const hn::CappedTag<float, 16> d;
  const hn::Rebind<std::int32_t, decltype(d)> ints;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const hn::Rebind<std::int16_t, decltype(d)> shorts;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const float left = 1.0f - cell.fx, top = 1.0f - cell.fy;
  const auto w00 = hn::Set(d, left * top), w10 = hn::Set(d, cell.fx * top), w01 = hn::Set(d, left * cell.fy),
             w11 = hn::Set(d, cell.fx * cell.fy);
  auto x_sum = hn::Zero(d), y_sum = hn::Zero(d);
  const auto load = [&](const std::uint8_t *p)
                        HWY_ATTR { return hn::ConvertTo(d, hn::PromoteTo(ints, hn::LoadU(bytes, p))); };
  for (int row = 0; row < window.side; ++row) {
    const std::uint8_t *j = to + row * window.picture_pitch, *below = j + window.picture_pitch;
    const std::uint8_t *from = window.from + row * window.picture_pitch;
    const std::int16_t *dx = window.dx + row * window.gradient_pitch,
                       *dy = window.dy + row * window.gradient_pitch;
    for (int i = 0; i < window.side; i += lanes) {
      const auto inside = hn::FirstN(d, static_cast<std::size_t>(window.side - i));
      auto pixel = hn::Mul(w00, load(j + i));
      pixel = hn::Add(pixel, hn::Mul(w10, load(j + i + 1)));
      pixel = hn::Add(pixel, hn::Mul(w01, load(below + i)));
      pixel = hn::Add(pixel, hn::Mul(w11, load(below + i + 1)));
      const auto difference = hn::IfThenElseZero(inside, hn::Sub(pixel, load(from + i)));
      const auto gradient = [&](const std::int16_t *p) HWY_ATTR {
        return hn::ConvertTo(d, hn::PromoteTo(ints, hn::LoadU(shorts, p + i)));
      };
      x_sum = hn::Add(x_sum, hn::Mul(gradient(dx), difference));
      y_sum = hn::Add(y_sum, hn::Mul(gradient(dy), difference));
    }
  }
  constexpr float kScale = 1.0f / (1 << 15);
  return {hn::GetLane(hn::SumOfLanes(d, x_sum)) * kScale, hn::GetLane(hn::SumOfLanes(d, y_sum)) * kScale};
}

Track track_window(const LevelWork &work, const Place &place, const Window &window, const Tensor &s) {
  const FlowVector start = start_of(work.coarse, place.x, place.y);
  const auto displaced = [&](const Cell &cell) HWY_ATTR {
    return work.to.row(place.y - window.side / 2 + cell.y) + place.x - window.side / 2 + cell.x;
  };
  if (work.method == FlowMethod::plain)
    return track(place, s, start, work.rules,
                 [&](const Cell &cell) HWY_ATTR { return sum_directly(window, displaced(cell), cell); });
  CellSums e;
  int known_x = 0, known_y = 0;
  bool known = false;
  return track(place, s, start, work.rules, [&](const Cell &cell) HWY_ATTR {
    if (!known || cell.x != known_x || cell.y != known_y) correlate(window, displaced(cell), e);
    known = true, known_x = cell.x, known_y = cell.y;
    return interpolate(e, cell);
  });
}

void track_row(const LevelWork &work, int row, ColumnSums &sums) {
  const int side = work.rules.window, radius = side / 2, stride = work.fine.stride, y = row * stride;
  RunningSum<long long> xx(sums.row(ColumnSums::xx), radius), xy(sums.row(ColumnSums::xy), radius),
      yy(sums.row(ColumnSums::yy), radius);
  RunningSum<int> xi(sums.row(ColumnSums::xi), radius), yi(sums.row(ColumnSums::yi), radius);
  FlowVector *out = work.fine.vectors.row(row);
  std::uint8_t *valid = work.valid.data != nullptr ? work.valid.row(row) : nullptr;
  Window window{work.dx.row(y - radius) - radius,
                work.dy.row(y - radius) - radius,
                work.dx.pitch_bytes / static_cast<std::ptrdiff_t>(sizeof(std::int16_t)),
                work.from.row(y - radius) - radius,
                work.from.pitch_bytes,
                side,
                0,
                0};
  for (int x = 0; x < work.from.width; ++x) {
    if (x % stride == 0) {
      window.x_from = xi.value(), window.y_from = yi.value();
      const Track found = track_window(work, {x, y, work.from.size()}, window,
                                       scaled_tensor(xx.value(), xy.value(), yy.value()));
      out[x / stride] = found.d;
      if (valid != nullptr) valid[x / stride] = found.valid ? 1 : 0;
    }
    xx.advance(x), xy.advance(x), yy.advance(x), xi.advance(x), yi.advance(x);
    ++window.dx, ++window.dy, ++window.from;
  }
}

void track_rows(const LevelWork &work, int first, int last, ColumnSums &sums) {
  const int radius = work.rules.window / 2, stride = work.fine.stride;
  sums.clear();
  int end = first * stride - radius;  // of the rows that are in the sums
  for (int row = first; row < last; ++row) {
    // Derivatives in the padding above and below are zero: its rows add nothing.
    for (; end <= row * stride + radius; ++end) add_row(work, end, 1, sums);
    track_row(work, row, sums);
    for (int y = row * stride - radius; y < (row + 1) * stride - radius && row + 1 < last; ++y)
      add_row(work, y, -1, sums);
  }
}

}  // namespace cudavision::opticalflow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudavision::opticalflow {

HWY_EXPORT(derive_rows);
HWY_EXPORT(shrink_rows);
HWY_EXPORT(track_rows);

void derive_rows(ImageView<const std::uint8_t> level, int first, int last, ImageView<std::int16_t> dx,
                 ImageView<std::int16_t> dy) {
  HWY_DYNAMIC_DISPATCH(derive_rows)(level, first, last, dx, dy);
}

void shrink_rows(ImageView<const std::uint8_t> level, int first, int last, ImageView<std::uint8_t> next) {
  HWY_DYNAMIC_DISPATCH(shrink_rows)(level, first, last, next);
}

void track_rows(const LevelWork &work, int first, int last, ColumnSums &sums) {
  HWY_DYNAMIC_DISPATCH(track_rows)(work, first, last, sums);
}

}  // namespace cudavision::opticalflow
#endif
