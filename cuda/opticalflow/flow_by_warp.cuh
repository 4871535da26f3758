// SPDX-License-Identifier: LGPL-2.1-or-later
// The iteration of one pixel by one warp, for pixels whose windows share little with those of others: each
// lane adds up one column of the window. All sums are integers, so that the result is that of the other
// kernels.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/warp.cuh"
#include "cuda/opticalflow/flow_window.cuh"

namespace cudavision::opticalflow {

static_assert(2 * kMaxRadius + 1 <= 32);  // a window has no more columns than a warp has lanes

// A pixel whose iteration is not finished.
struct UnfinishedPixel {
  Tracker track;
  int x, y;
  FromSums from;
};

// Returns the sums of (Ix, Iy) J over column x of the window, for the four corners of the cell. row_of is that
// of correlate(). Each pixel of J is loaded once: those below a row of gradients are those above the next.
template <typename RowOf>
__device__ CellSums correlate_column(const Patch<ScharrGradient> &gradient, const PixelRect &window, int x,
                                     const DisplacementCell &cell, const RowOf &row_of) {
  CellSums e = {};
  const auto first = row_of(window.y0 + cell.y);
  int j00 = first(x + cell.x), j10 = first(x + cell.x + 1);
#pragma unroll 4
  for (int y = window.y0; y < window.y1; ++y) {
    const ScharrGradient g = gradient.row(y)[x];
    const auto below = row_of(y + cell.y + 1);
    const int j01 = below(x + cell.x), j11 = below(x + cell.x + 1);
    e.x[0] += g.x * j00, e.x[1] += g.x * j10, e.x[2] += g.x * j01, e.x[3] += g.x * j11;
    e.y[0] += g.y * j00, e.y[1] += g.y * j10, e.y[2] += g.y * j01, e.y[3] += g.y * j11;
    j00 = j01, j10 = j11;
  }
  return e;
}

// Returns, in all lanes, the sums of the cell that the pixel's displacement lies in. All lanes of the warp
// must call this with the same arguments.
__device__ inline CellSums correlate_by_lanes(const DeviceWork &work, const UnfinishedPixel &pixel) {
  const Place place{pixel.x, pixel.y, work.fine.size};
  const DisplacementCell cell = cell_of(pixel.track.d);
  const PixelRect window = window_in(place, work.rules.window);
  const int x = window.x0 + static_cast<int>(threadIdx.x) % 32;
  CellSums e = {};
  if (x < window.x1)
    e = with_rows({}, whole(work.to), window, cell, [&](const auto &row_of) {
      return correlate_column(whole(work.gradient), window, x, cell, row_of);
    });
  for (int k = 0; k < 4; ++k) {
    e.x[k] = warp_sum(e.x[k]) - pixel.from.x;
    e.y[k] = warp_sum(e.y[k]) - pixel.from.y;
  }
  return e;
}

// Starts the iteration of a pixel. All lanes of the warp must call this with the same arguments.
__device__ inline UnfinishedPixel start_by_warp(const DeviceWork &work, const Place &place,
                                                FlowVector start) {
  const PixelRect window = window_in(place, work.rules.window);
  const int x = window.x0 + static_cast<int>(threadIdx.x) % 32;
  int xx = 0, xy = 0, yy = 0;
  FromSums from = {};
  if (x < window.x1)
#pragma unroll 4
    for (int y = window.y0; y < window.y1; ++y) {
      const ScharrGradient g = work.gradient.row(y)[x];
      const int i = work.from.row(y)[x];
      xx += g.x * g.x, xy += g.x * g.y, yy += g.y * g.y;
      from.x += g.x * i, from.y += g.y * i;
    }
  const StructureTensor s{scaled(warp_sum_wide(xx)), scaled(warp_sum_wide(xy)), scaled(warp_sum_wide(yy))};
  return {
      start_tracking(place, work.rules, s, start), place.x, place.y, {warp_sum(from.x), warp_sum(from.y)}};
}

// Finishes the iteration of a pixel. All lanes of the warp must call this with the same arguments.
__device__ inline Tracker finish_by_warp(const DeviceWork &work, UnfinishedPixel pixel) {
  const Place place{pixel.x, pixel.y, work.fine.size};
  Tracker &t = pixel.track;
  while (t.running) {
    const DisplacementCell cell = cell_of(t.d);
    const CellSums e = correlate_by_lanes(work, pixel);
    do {
      step(place, work.rules, interpolate(e, t.d), &t);
    } while (t.running && is_same_cell(cell_of(t.d), cell));
  }
  return t;
}

}  // namespace cudavision::opticalflow
