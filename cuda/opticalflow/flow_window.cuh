// SPDX-License-Identifier: LGPL-2.1-or-later
// What one thread computes of its window, wherever the pictures lie: in global memory, or as tiles in shared
// memory.
#pragma once

#include <cuda_runtime.h>

#include "cuda/opticalflow/flow_pyramid.cuh"

namespace cudavision::opticalflow {

// Rows and columns [x0, x1) x [y0, y1) of a level.
struct Bounds {
  int x0, y0, x1, y1;
};

// A part of a picture that lies together in memory.
template <typename T>
struct Patch {
  const T *data;         // its first element
  std::ptrdiff_t pitch;  // elements
  Bounds bounds;

  __device__ const T *row(int y) const {
    return data + (y - bounds.y0) * pitch - bounds.x0;
  }  // element 0 of row y
  __device__ bool holds(const Bounds &b) const {
    return b.x0 >= bounds.x0 && b.y0 >= bounds.y0 && b.x1 <= bounds.x1 && b.y1 <= bounds.y1;
  }
};

template <typename T>
__device__ Patch<T> whole(ImageView<const T> image) {
  return {image.data,
          image.pitch_bytes / static_cast<std::ptrdiff_t>(sizeof(T)),
          {0, 0, image.width, image.height}};
}

// The pixels of the window around (x, y) that lie in the picture. Beyond it derivatives are zero, and nothing
// is summed.
__device__ inline Bounds window_in(const Place &place, int window) {
  const int radius = window / 2;
  return {max(place.x - radius, 0), max(place.y - radius, 0), min(place.x + radius + 1, place.size.width),
          min(place.y + radius + 1, place.size.height)};
}

struct FromSums {  // sum (Ix, Iy) I
  int x, y;
};

// One level's work, as for the CPU (flow_rows.h).
struct DeviceWork {
  ImageView<const std::uint8_t> from, to;
  ImageView<const Gradient> gradient;
  Rules rules;
  Field coarse, fine;
  ImageView<std::uint8_t> valid;
};

__device__ inline void store(const DeviceWork &work, int column, int row, const Tracker &found) {
  work.fine.vectors.row(row)[column] = found.d;
  if (work.valid.data != nullptr) work.valid.row(row)[column] = found.valid ? 1 : 0;
}

// Adds sum (Ix, Iy) J for the four whole displacements of the cell. to(x, y): a pixel of J. Columns are
// loaded once: the right ones of a pixel are the left ones of the next.
template <typename RowOf>
__device__ inline CellSums correlate(const Patch<Gradient> &gradient, const Bounds &window, const Cell &cell,
                                     const RowOf &to) {
  CellSums e = {};
  for (int y = window.y0; y < window.y1; ++y) {
    const Gradient *g = gradient.row(y);
    const auto above = to(y + cell.y), below = to(y + cell.y + 1);
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

// Sum (Ix, Iy) (J(q + d) - I(q)), as FlowMethod::plain has it.
template <typename RowOf>
__device__ inline FlowVector sum_directly(const Patch<Gradient> &gradient, const Patch<std::uint8_t> &from,
                                          const Bounds &window, FlowVector d, const RowOf &to) {
  const Cell cell = cell_of(d);
  const auto [w00, w10, w01, w11] = weights_of(d);
  FlowVector sum;
  for (int y = window.y0; y < window.y1; ++y) {
    const Gradient *g = gradient.row(y);
    const std::uint8_t *i = from.row(y);
    const auto above = to(y + cell.y), below = to(y + cell.y + 1);
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

// Calls function(to) with the rows of J around the cell: of the tile where that holds them, of the whole
// picture, or mirrored beyond its ends. Each is compiled for itself: shared memory has loads of its own.
template <typename Function>
__device__ inline auto with_rows(const Patch<std::uint8_t> &tile, const Patch<std::uint8_t> &picture,
                                 const Bounds &window, const Cell &cell, const Function &function) {
  const Bounds needed{window.x0 + cell.x, window.y0 + cell.y, window.x1 + cell.x + 1, window.y1 + cell.y + 1};
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

// The iteration of one pixel. tile: the part of J in shared memory, or an empty one.
template <FlowMethod method>
__device__ inline Tracker track_window(const DeviceWork &work, const Place &place, const Tensor &s,
                                       const FromSums &from_sums, FlowVector start,
                                       const Patch<Gradient> &gradient, const Patch<std::uint8_t> &from,
                                       const Patch<std::uint8_t> &tile) {
  const Bounds window = window_in(place, work.rules.window);
  const Patch<std::uint8_t> picture = whole(work.to);
  Tracker t = start_tracking(place, work.rules, s, start);
  CellSums e = {};
  Cell known = {};
  bool none_known = true;
  while (t.running) {
    const Cell cell = cell_of(t.d);
    FlowVector b;
    if constexpr (method == FlowMethod::plain) {
      b = with_rows(tile, picture, window, cell,
                    [&](const auto &to) { return sum_directly(gradient, from, window, t.d, to); });
    } else {
      if (none_known || !is_same_cell(cell, known)) {
        e = with_rows(tile, picture, window, cell,
                      [&](const auto &to) { return correlate(gradient, window, cell, to); });
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
