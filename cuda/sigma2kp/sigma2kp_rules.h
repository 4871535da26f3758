// SPDX-License-Identifier: LGPL-2.1-or-later
// What both backends of the sigma^2 detector share: which windows and squares there are, what is near, what
// outdoes what, and where orientations are counted.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/common/host_device.h"
#include "cuda/sigma2kp/sigma2kp.h"

namespace cudavision::sigma2kp {

constexpr int kMaxGrids = 4;
constexpr int kWidestNarrow = 22;  // windows whose S fits 32 bits: k^4 255^2 / 4 < 2^32

struct Offset {
  int x, y;
};

// Coordinates are those of windows, by their top left pixels.
struct Plan {
  int window, cell;
  bool dense;
  Size map;  // of windows; 0 x 0 where no square of them fits
  int grid_count;
  Offset grid[kMaxGrids];
  // The largest squared distance that is near: of grids in half pixels from the centre, otherwise in pixels.
  int reach;
  // The parts of a square, along each axis, where there can be something near its centre: [first, end). Of
  // `dense`, offsets from q.
  int first_near, end_near;
  // Whether a window is a keypoint is decided by windows from so many before to so many after it, along each
  // axis.
  int before, after;

  CUDAVISION_HOST_DEVICE bool is_near(int dx, int dy) const {
    if (dense) return dx * dx + dy * dy <= reach;
    return (2 * dx - cell) * (2 * dx - cell) + (2 * dy - cell) * (2 * dy - cell) <= reach;
  }
  // How many squares of a grid lie along an axis of `count` windows.
  CUDAVISION_HOST_DEVICE int squares(int count, int offset) const {
    return count < offset + cell ? 0 : (count - offset) / cell;
  }
  CUDAVISION_HOST_DEVICE bool is_wide() const { return window > kWidestNarrow; }
};

Plan make_plan(Size picture, const Sigma2KpParams &params);

// Whether both have the same plan.
inline bool same_squares(const Sigma2KpParams &a, const Sigma2KpParams &b) {
  return a.window == b.window && a.cell == b.cell && a.tau == b.tau && a.grids == b.grids &&
         a.definition == b.definition;
}

// How many keypoints there can be.
std::size_t most_keypoints(const Plan &plan);

CUDAVISION_HOST_DEVICE constexpr int floor_divide(int n, int d) {
  return n >= 0 ? n / d : -((d - 1 - n) / d);
}

// S of a window: of the sums of its pixels and of their squares. Wraps, and is right where the result fits T.
template <typename T>
CUDAVISION_HOST_DEVICE constexpr T strength_of(std::uint32_t sum, std::uint32_t squares, int window) {
  return static_cast<T>(window * window) * squares - static_cast<T>(sum) * sum;
}

// Whether a keypoint of strength s, the i-th in raster order, outdoes the j-th one of strength t.
CUDAVISION_HOST_DEVICE constexpr bool outdoes(std::uint64_t s, int i, std::uint64_t t, int j) {
  return s > t || (s == t && i < j);
}

// Where the orientation of a keypoint is counted.
CUDAVISION_HOST_DEVICE constexpr Region orientation_region(int x, int y, int window, int side, Size picture) {
  const int left = x + floor_divide(window - side, 2), top = y + floor_divide(window - side, 2);
  const int right = left + side < picture.width ? left + side : picture.width;
  const int bottom = top + side < picture.height ? top + side : picture.height;
  const int x0 = left > 0 ? left : 0, y0 = top > 0 ? top : 0;
  return {x0, y0, right - x0, bottom - y0};
}

Status check_run(Size luma, Size made_for, const Sigma2KpParams &params);

Status make_sigma2kp_cpu(const Execution &execution, Size size, std::unique_ptr<Sigma2Kp> *room);
Status make_sigma2kp_cuda(const Execution &execution, Size size, std::unique_ptr<Sigma2Kp> *room);

}  // namespace cudavision::sigma2kp
