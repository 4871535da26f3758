// SPDX-License-Identifier: LGPL-2.1-or-later
// Levels on the CPU that have a vector only at some pixels: the vectors of a row are iterated one after the other.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/opticalflow/flow_track_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include "cuda/opticalflow/flow_window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::opticalflow::HWY_NAMESPACE {

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
    const Tracker t = finished_with_cells(work, place, window, start);
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
