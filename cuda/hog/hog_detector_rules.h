// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic that both backends of the detector share: the taps of the scaling, the boxes of windows,
// and the grouping of hits.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/common/host_device.h"
#include "cuda/hog/hog_detector.h"

namespace cudavision::hog {

// --- scaling: a tap is an element of resize_taps() (hog_detector_plan.h) ---

CUDAVISION_HOST_DEVICE constexpr int first_of_tap(std::int32_t tap) { return tap >> 9; }
CUDAVISION_HOST_DEVICE constexpr int weight_of_tap(std::int32_t tap) { return tap & 511; }

// --- windows ---

// Rounds half to even, as cvRound.
CUDAVISION_HOST_DEVICE inline int round_even(double value) { return static_cast<int>(rint(value)); }

// The box, in pixels of the picture, of the window in this row and column of a scale. The box is not clipped.
CUDAVISION_HOST_DEVICE inline HogBox box_of_window(double scale, Size window, int win_stride, int col,
                                                   int row, float score) {
  return {.x = round_even(col * win_stride * scale),
          .y = round_even(row * win_stride * scale),
          .width = round_even(window.width * scale),
          .height = round_even(window.height * scale),
          .score = score};
}

// Elements [first, end) along an axis.
struct Interval {
  int first, end;
};
// The windows along one axis whose centres lie in the pixels [begin, end) of the picture. window, win_stride: the
// length and the distance of windows, in pixels of the scaled picture. count: the number of windows.
CUDAVISION_HOST_DEVICE inline Interval windows_between(double scale, int begin, int end, int window,
                                                       int win_stride, int count) {
  const auto first_from = [&](int edge) {
    const double index = ceil((edge / scale - 0.5 * window) / win_stride);
    return index <= 0 ? 0 : index >= count ? count : static_cast<int>(index);
  };
  return {first_from(begin), first_from(end)};
}
// The windows of a scale whose centres lie in the region of the picture, as a rectangle of windows. windows: the number
// of windows in a row and in a column.
CUDAVISION_HOST_DEVICE inline Region windows_of_region(double scale, Size window, int win_stride,
                                                       Size windows, const Region &region) {
  const Interval x = windows_between(scale, region.x, region.x + region.width, window.width, win_stride,
                                     windows.width),
                 y = windows_between(scale, region.y, region.y + region.height, window.height, win_stride,
                                     windows.height);
  return {x.first, y.first, x.end - x.first, y.end - y.first};
}
CUDAVISION_HOST_DEVICE constexpr bool is_empty(const Region &region) {
  return region.width <= 0 || region.height <= 0;
}

// The grid of blocks, and where the windows and their blocks lie on it.
struct GridSteps {
  Size stride, block;      // the spacing of the grid and the size of a block, in pixels
  Size window_step;        // distance between neighbouring windows in positions of the grid
  Size block_step;         // distance between neighbouring blocks of a window in positions of the grid
  Size blocks_per_window;  // the number of blocks in a row and in a column of a window
};
// The rectangle of grid positions from the first to the last block of these windows.
CUDAVISION_HOST_DEVICE constexpr Region blocks_of_windows(const GridSteps &grid, const Region &windows) {
  return {windows.x * grid.window_step.width, windows.y * grid.window_step.height,
          (windows.width - 1) * grid.window_step.width +
              (grid.blocks_per_window.width - 1) * grid.block_step.width + 1,
          (windows.height - 1) * grid.window_step.height +
              (grid.blocks_per_window.height - 1) * grid.block_step.height + 1};
}
// The pixels of the scale that these blocks depend on; the rectangle may reach one pixel beyond the picture.
CUDAVISION_HOST_DEVICE constexpr Region pixels_of_blocks(const GridSteps &grid, const Region &blocks) {
  return {blocks.x * grid.stride.width - 1, blocks.y * grid.stride.height - 1,
          (blocks.width - 1) * grid.stride.width + grid.block.width + 2,
          (blocks.height - 1) * grid.stride.height + grid.block.height + 2};
}

// --- grouping, as in cv::HOGDescriptor::groupRectangles with eps 0.2 ---

constexpr double kGroupEps = 0.2;

// Whether each side of a is near to that of b: the limit is kGroupEps times the mean of the smaller width and
// the smaller height.
CUDAVISION_HOST_DEVICE inline bool are_similar(const HogBox &a, const HogBox &b) {
  const int width = a.width < b.width ? a.width : b.width, height = a.height < b.height ? a.height : b.height;
  const double most = kGroupEps * (width + height) * 0.5;
  const auto near = [most](int p, int q) { return (p < q ? q - p : p - q) <= most; };
  return near(a.x, b.x) && near(a.y, b.y) && near(a.x + a.width, b.x + b.width) &&
         near(a.y + a.height, b.y + b.height);
}

// Sums over the hits of a group. Each sum fits an int: it is at most kMaxHogHits times a few times kMaxSide.
struct Group {
  int count = 0;
  int x = 0, y = 0, width = 0, height = 0;
  float score = 0;  // the score of the best hit
};
CUDAVISION_HOST_DEVICE inline HogBox average(const Group &g) {
  const double share = 1.0 / g.count;
  return {.x = round_even(g.x * share),
          .y = round_even(g.y * share),
          .width = round_even(g.width * share),
          .height = round_even(g.height * share),
          .score = g.score};
}

// Whether the box of a group is left out, because it lies within the box of another group (enlarged on each side by
// kGroupEps of its size) and either has fewer than 3 hits, or the other group has more hits and more than 3.
CUDAVISION_HOST_DEVICE inline bool gives_way(const HogBox &box, int count, const HogBox &other,
                                             int other_count) {
  const int dx = round_even(other.width * kGroupEps), dy = round_even(other.height * kGroupEps);
  return box.x >= other.x - dx && box.y >= other.y - dy && box.x + box.width <= other.x + other.width + dx &&
         box.y + box.height <= other.y + other.height + dy &&
         (other_count > (count > 3 ? count : 3) || count < 3);
}

// --- non-maximum suppression ---

// The part of a box.
CUDAVISION_HOST_DEVICE inline HogBox part_of(const HogPart &part, HogBox box) {
  const auto cut = [](double first, double share, int *begin, int *length) {
    const int left = *begin + round_even(first * *length),
              right = *begin + round_even((first + share) * *length);
    *begin = left, *length = right - left;
  };
  cut(part.x, part.width, &box.x, &box.width);
  cut(part.y, part.height, &box.y, &box.height);
  return box;
}

// Whether the intersection of a and b is at least a fifth of their union.
CUDAVISION_HOST_DEVICE inline bool overlap(const HogBox &a, const HogBox &b) {
  const int left = a.x > b.x ? a.x : b.x, top = a.y > b.y ? a.y : b.y;
  const int right = a.x + a.width < b.x + b.width ? a.x + a.width : b.x + b.width;
  const int bottom = a.y + a.height < b.y + b.height ? a.y + a.height : b.y + b.height;
  if (right <= left || bottom <= top) return false;
  const auto area = [](int width, int height) { return std::int64_t{width} * height; };
  return 6 * area(right - left, bottom - top) >= area(a.width, a.height) + area(b.width, b.height);
}

// Cuts the box to that part of it and to the picture. At least a pixel is left: windows begin in the picture.
CUDAVISION_HOST_DEVICE inline HogBox cut_box(const HogPart &part, Size picture, const HogBox &window) {
  HogBox box = part_of(part, window);
  const auto clip = [](int side, int *begin, int *length) {
    const int end = *begin + *length < side ? *begin + *length : side;
    *begin = *begin < 0 ? 0 : *begin < side ? *begin : side - 1;
    *length = end > *begin ? end - *begin : 1;
  };
  clip(picture.width, &box.x, &box.width);
  clip(picture.height, &box.y, &box.height);
  return box;
}

}  // namespace cudavision::hog
