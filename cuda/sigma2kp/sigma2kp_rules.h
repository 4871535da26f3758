// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of the sigma^2 detector that both backends share.
#pragma once

#include <cstdint>

#include "cuda/common/host_device.h"
#include "cuda/sigma2kp/sigma2kp.h"

namespace cudavision::sigma2kp {

constexpr int kMaxGrids = 4;
// The side k of the largest window whose strengths fit 32 bits: k^4 255^2 / 4 < 2^32.
constexpr int kMaxWindow32 = 22;

struct Offset {
  int x, y;
};

// The parameters in the form that the search uses. All coordinates are those of windows (their top left pixels).
struct DetectorPlan {
  int window, cell;
  bool dense;
  // The number of windows along each axis; 0 x 0 if no cell fits.
  Size map;
  int grid_count;
  Offset grid[kMaxGrids];
  // The largest squared distance that is_near() accepts: with grids in half pixels, with `dense` in pixels.
  int max_squared_distance;
  // Along each axis, is_near() accepts only offsets in [first_near, end_near).
  int first_near, end_near;
  // The halo: the decision about window i needs the windows from i - before to i + after along each axis.
  int before, after;

  // Returns true if a window is near enough to the centre of its cell. dx, dy: the window's offset from the top left
  // window of the cell; with `dense`, its offset from the position q that defines the cell (Sigma2KpDefinition::dense).
  CUDAVISION_HOST_DEVICE bool is_near(int dx, int dy) const {
    if (dense) return dx * dx + dy * dy <= max_squared_distance;
    return (2 * dx - cell) * (2 * dx - cell) + (2 * dy - cell) * (2 * dy - cell) <= max_squared_distance;
  }
  // Whether strengths need 64 bits.
  CUDAVISION_HOST_DEVICE bool is_wide() const { return window > kMaxWindow32; }
};

// The number of cells of a grid that begins at `offset`, along an axis of `count` windows.
CUDAVISION_HOST_DEVICE constexpr int cells_along(int count, int offset, int cell) {
  return count < offset + cell ? 0 : (count - offset) / cell;
}

CUDAVISION_HOST_DEVICE constexpr int floor_divide(int n, int d) {
  return n >= 0 ? n / d : -((d - 1 - n) / d);
}

// The strength of a window from the sum of its pixels and the sum of their squares. Intermediate results may
// wrap; the result is exact if it fits T.
template <typename T>
CUDAVISION_HOST_DEVICE constexpr T strength_of(std::uint32_t sum, std::uint32_t squares, int window) {
  return static_cast<T>(window * window) * squares - static_cast<T>(sum) * sum;
}

// Returns true if the keypoint with strength s and index i in row-major order is stronger than the one with
// strength t and index j.
CUDAVISION_HOST_DEVICE constexpr bool is_stronger(std::uint64_t s, int i, std::uint64_t t, int j) {
  return s > t || (s == t && i < j);
}

// The square of `side` pixels around the window at (x, y), clipped to the image.
CUDAVISION_HOST_DEVICE constexpr Region orientation_region(int x, int y, int window, int side, Size image) {
  const int left = x + floor_divide(window - side, 2), top = y + floor_divide(window - side, 2);
  const int right = left + side < image.width ? left + side : image.width;
  const int bottom = top + side < image.height ? top + side : image.height;
  const int x0 = left > 0 ? left : 0, y0 = top > 0 ? top : 0;
  return {x0, y0, right - x0, bottom - y0};
}

// Whether a keypoint counts: whether the centre pixel of the window at (x, y) lies in a region.
CUDAVISION_HOST_DEVICE inline bool is_searched(const Places &places, int window, int x, int y) {
  return places.contain(x + window / 2, y + window / 2);
}

}  // namespace cudavision::sigma2kp
