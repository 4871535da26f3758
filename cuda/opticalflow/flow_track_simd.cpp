// SPDX-License-Identifier: LGPL-2.1-or-later
// OpticalFlowMethod::plain and cells on the CPU: the pixels of a row are iterated one after the other.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/opticalflow/flow_track_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include "cuda/opticalflow/flow_window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::opticalflow::HWY_NAMESPACE {

// The sum of (Ix, Iy) (J(q + d) - I(q)) over the window, as OpticalFlowMethod::plain computes it. to: the
// pixel of J that floor(d) moves the first pixel of the window to.
FlowVector sum_directly(const Window &window, const std::uint8_t *to, FlowVector displacement) {
  const hn::CappedTag<float, 16> d;
  const hn::Rebind<std::int32_t, decltype(d)> ints;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const hn::Rebind<std::int16_t, decltype(d)> shorts;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const Weights w = weights_of(displacement);
  const auto w00 = hn::Set(d, w.w00), w10 = hn::Set(d, w.w10), w01 = hn::Set(d, w.w01),
             w11 = hn::Set(d, w.w11);
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

Tracker finished_with_plain_sums(const LevelWork &work, const Place &place, const Window &window, Tracker t) {
  while (t.running)
    step(place, work.rules, sum_directly(window, displaced(work, place, cell_of(t.d)), t.d), &t);
  return t;
}

void track_row(const LevelWork &work, int row, ColumnSums &sums) {
  const int stride = work.fine.stride, y = row * stride;
  FlowVector *out = work.fine.vectors.row(row);
  std::uint8_t *valid = work.valid.data != nullptr ? work.valid.row(row) : nullptr;
  WindowSums around(sums, 0, work.rules.window / 2);
  for (int x = 0; x < work.from.width; ++x, around.advance()) {
    if (x % stride != 0) continue;
    const Place place{x, y, work.from.size()};
    Window window(work, x, y);
    window.x_from = around.xi.value(), window.y_from = around.yi.value();
    const Tracker start = start_tracking(place, work.rules, around.tensor(), start_of(work.coarse, x, y));
    const Tracker t = work.method == OpticalFlowMethod::plain
                          ? finished_with_plain_sums(work, place, window, start)
                          : finished_with_cells(work, place, window, start);
    out[x / stride] = t.d;
    if (valid != nullptr) valid[x / stride] = t.valid ? 1 : 0;
  }
}

void track_rows(const LevelWork &work, int first, int last, ColumnSums &sums) {
  SlidingColumnSums walk(work, 0, work.from.width, first * work.fine.stride, sums);
  for (int row = first; row < last; ++row) {
    walk.go_to(row * work.fine.stride);
    track_row(work, row, sums);
  }
}

}  // namespace cudavision::opticalflow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudavision::opticalflow {

HWY_EXPORT(track_rows);

void track_rows(const LevelWork &work, int first, int last, ColumnSums &sums) {
  HWY_DYNAMIC_DISPATCH(track_rows)(work, first, last, sums);
}

}  // namespace cudavision::opticalflow
#endif
