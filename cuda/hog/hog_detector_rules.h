// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic that both backends of the detector share: the taps of the downscaling, the boxes of windows,
// and the grouping of hits.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/common/host_device.h"
#include "cuda/hog/hog_detector.h"

namespace cudavision::hog {

// --- downscaling: a tap is an element of resize_taps() (hog_detector_plan.h) ---

CUDAVISION_HOST_DEVICE constexpr int first_of_tap(std::int32_t tap) { return tap >> 9; }
CUDAVISION_HOST_DEVICE constexpr int weight_of_tap(std::int32_t tap) { return tap & 511; }

// --- windows ---

// Rounds half to even, as cvRound.
CUDAVISION_HOST_DEVICE inline int round_even(double value) { return static_cast<int>(rint(value)); }

// The box, in the picture, of the window in this row and column of a scale. It is not clipped.
CUDAVISION_HOST_DEVICE inline HogBox box_of_window(double scale, Size window, int win_stride, int col,
                                                   int row, float score) {
  return {.x = round_even(col * win_stride * scale),
          .y = round_even(row * win_stride * scale),
          .width = round_even(window.width * scale),
          .height = round_even(window.height * scale),
          .score = score};
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

// Sums over the hits of a group. They fit an int: each is at most kMaxHogHits times a few times kMaxSide.
struct Group {
  int count = 0;
  int x = 0, y = 0, width = 0, height = 0;
  float score = 0;  // that of the best hit
};
CUDAVISION_HOST_DEVICE inline HogBox average(const Group &g) {
  const double share = 1.0 / g.count;
  return {.x = round_even(g.x * share),
          .y = round_even(g.y * share),
          .width = round_even(g.width * share),
          .height = round_even(g.height * share),
          .score = g.score};
}

// Whether the box of a group is left out, because it lies within the box of another group (enlarged on each
// side by kGroupEps of its size) and either has fewer than 3 hits, or the other group has more hits and more
// than 3.
CUDAVISION_HOST_DEVICE inline bool gives_way(const HogBox &box, int count, const HogBox &other,
                                             int other_count) {
  const int dx = round_even(other.width * kGroupEps), dy = round_even(other.height * kGroupEps);
  return box.x >= other.x - dx && box.y >= other.y - dy && box.x + box.width <= other.x + other.width + dx &&
         box.y + box.height <= other.y + other.height + dy &&
         (other_count > (count > 3 ? count : 3) || count < 3);
}

// Clips the box to the picture. Returns false if nothing is left.
CUDAVISION_HOST_DEVICE inline bool clip_box(Size picture, HogBox *box) {
  const int right = box->x + box->width, bottom = box->y + box->height;
  box->x = box->x > 0 ? box->x : 0, box->y = box->y > 0 ? box->y : 0;
  box->width = (right < picture.width ? right : picture.width) - box->x;
  box->height = (bottom < picture.height ? bottom : picture.height) - box->y;
  return box->width > 0 && box->height > 0;
}

}  // namespace cudavision::hog
