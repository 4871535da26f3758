// SPDX-License-Identifier: LGPL-2.1-or-later
// The iteration of one pixel by one thread, over pictures in global memory or tiles in shared memory.
#pragma once

#include <cuda_runtime.h>

#include "cuda/opticalflow/flow_pyramid.cuh"

namespace cudavision::opticalflow {

// Columns [x0, x1) of rows [y0, y1) of a level.
struct PixelRect {
  int x0, y0, x1, y1;
};

// A rectangle of a picture in global or shared memory.
template <typename T>
struct Patch {
  const T *data;         // the first element of the rectangle
  std::ptrdiff_t pitch;  // elements
  PixelRect bounds;

  // Points to column 0 of row y, which need not belong to the patch.
  __device__ const T *row(int y) const { return data + (y - bounds.y0) * pitch - bounds.x0; }
  __device__ bool holds(const PixelRect &b) const {
    return b.x0 >= bounds.x0 && b.y0 >= bounds.y0 && b.x1 <= bounds.x1 && b.y1 <= bounds.y1;
  }
};

template <typename T>
__device__ Patch<T> whole(ImageView<const T> image) {
  return {image.data,
          image.pitch_bytes / static_cast<std::ptrdiff_t>(sizeof(T)),
          {0, 0, image.width, image.height}};
}

// The part of the window around a pixel that lies in the picture. Pixels outside it add nothing to the sums,
// because their derivatives are zero.
__device__ inline PixelRect window_in(const Place &place, int window) {
  const int radius = window / 2;
  return {max(place.x - radius, 0), max(place.y - radius, 0), min(place.x + radius + 1, place.size.width),
          min(place.y + radius + 1, place.size.height)};
}

// The sum of (Ix, Iy) I over a window.
struct FromSums {
  int x, y;
};

// The inputs and outputs of one level; LevelWork (flow_simd.h) is the same on the CPU.
struct DeviceWork {
  ImageView<const std::uint8_t> from, to;  // I and J
  ImageView<const ScharrGradient> gradient;
  ImageView<const GradientBytes> bytes;
  TrackingRules rules;
  Field coarse, fine;             // the flow of the next coarser level, and the output
  ImageView<std::uint8_t> valid;  // output, of the size of fine; may be empty
};

__device__ inline void store(const DeviceWork &work, int column, int row, const Tracker &found) {
  work.fine.vectors.row(row)[column] = found.d;
  if (work.valid.data != nullptr) work.valid.row(row)[column] = found.valid ? 1 : 0;
}

// Returns the sums of (Ix, Iy) J for the four corners of the cell. row_of(y)(x) is pixel (x, y) of J. Each
// pixel of J is loaded once per row of gradients: the right ones of a pixel are the left ones of the next.
template <typename RowOf>
__device__ inline CellSums correlate(const Patch<ScharrGradient> &gradient, const PixelRect &window,
                                     const DisplacementCell &cell, const RowOf &row_of) {
  CellSums e = {};
  for (int y = window.y0; y < window.y1; ++y) {
    const ScharrGradient *g = gradient.row(y);
    const auto above = row_of(y + cell.y), below = row_of(y + cell.y + 1);
    int j00 = above(window.x0 + cell.x), j01 = below(window.x0 + cell.x);
    for (int x = window.x0; x < window.x1; ++x) {
      const int gx = g[x].x, gy = g[x].y;
      const int j10 = above(x + cell.x + 1), j11 = below(x + cell.x + 1);
      e.x[0] += gx * j00, e.x[1] += gx * j10, e.x[2] += gx * j01, e.x[3] += gx * j11;
      e.y[0] += gy * j00, e.y[1] += gy * j10, e.y[2] += gy * j01, e.y[3] += gy * j11;
      j00 = j10, j01 = j11;
    }
  }
  return e;
}

// The sum of (Ix, Iy) (J(q + d) - I(q)) over the window, as OpticalFlowMethod::plain computes it.
// row_of(y)(x) is pixel (x, y) of J.
template <typename RowOf>
__device__ inline FlowVector sum_directly(const Patch<ScharrGradient> &gradient,
                                          const Patch<std::uint8_t> &from, const PixelRect &window,
                                          FlowVector d, const RowOf &row_of) {
  const DisplacementCell cell = cell_of(d);
  const auto [w00, w10, w01, w11] = weights_of(d);
  FlowVector sum;
  for (int y = window.y0; y < window.y1; ++y) {
    const ScharrGradient *g = gradient.row(y);
    const std::uint8_t *i = from.row(y);
    const auto above = row_of(y + cell.y), below = row_of(y + cell.y + 1);
    for (int x = window.x0; x < window.x1; ++x) {
      const int jx = x + cell.x;
      const float pixel = w00 * static_cast<float>(above(jx)) + w10 * static_cast<float>(above(jx + 1)) +
                          w01 * static_cast<float>(below(jx)) + w11 * static_cast<float>(below(jx + 1));
      const float difference = pixel - static_cast<float>(i[x]);
      sum.x += static_cast<float>(g[x].x) * difference;
      sum.y += static_cast<float>(g[x].y) * difference;
    }
  }
  constexpr float kScale = 1.0f / (1 << 15);
  return {sum.x * kScale, sum.y * kScale};
}

// Calls function(row_of) with access to the pixels of J that the cell displaces the window to: from the tile
// if it holds all of them, otherwise from the picture, and with mirrored indices if they reach beyond its
// borders. The three cases are compiled separately, because shared memory and global memory have different
// load instructions.
template <typename Function>
__device__ inline auto with_rows(const Patch<std::uint8_t> &tile, const Patch<std::uint8_t> &picture,
                                 const PixelRect &window, const DisplacementCell &cell,
                                 const Function &function) {
  const PixelRect needed{window.x0 + cell.x, window.y0 + cell.y, window.x1 + cell.x + 1,
                         window.y1 + cell.y + 1};
  const auto rows_of = [](const Patch<std::uint8_t> &patch) {
    return [patch](int y) { return [row = patch.row(y)](int x) { return static_cast<int>(row[x]); }; };
  };
  if (tile.holds(needed)) return function(rows_of(tile));
  if (picture.holds(needed)) return function(rows_of(picture));
  return function([picture](int y) {
    return [row = picture.row(mirror_index(y, picture.bounds.y1)), width = picture.bounds.x1](int x) {
      return static_cast<int>(row[mirror_index(x, width)]);
    };
  });
}

// The iteration of one pixel. gradient, from: must hold the window. tile: the part of J in shared memory; may
// be empty.
template <OpticalFlowMethod method>
__device__ inline Tracker track_window(const DeviceWork &work, const Place &place, const StructureTensor &s,
                                       const FromSums &from_sums, FlowVector start,
                                       const Patch<ScharrGradient> &gradient, const Patch<std::uint8_t> &from,
                                       const Patch<std::uint8_t> &tile) {
  const PixelRect window = window_in(place, work.rules.window);
  const Patch<std::uint8_t> picture = whole(work.to);
  Tracker t = start_tracking(place, work.rules, s, start);
  CellSums e = {};
  DisplacementCell known = {};
  bool none_known = true;
  while (t.running) {
    const DisplacementCell cell = cell_of(t.d);
    FlowVector b;
    if constexpr (method == OpticalFlowMethod::plain) {
      b = with_rows(tile, picture, window, cell,
                    [&](const auto &row_of) { return sum_directly(gradient, from, window, t.d, row_of); });
    } else {
      if (none_known || !is_same_cell(cell, known)) {
        e = with_rows(tile, picture, window, cell,
                      [&](const auto &row_of) { return correlate(gradient, window, cell, row_of); });
        for (int i = 0; i < 4; ++i) e.x[i] -= from_sums.x, e.y[i] -= from_sums.y;
        known = cell, none_known = false;
      }
      b = interpolate(e, t.d);
    }
    step(place, work.rules, b, &t);
  }
  return t;
}

}  // namespace cudavision::opticalflow
