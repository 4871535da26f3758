// SPDX-License-Identifier: LGPL-2.1-or-later
// What both backends of the detector share: the scales of a picture, how pictures are shrunk, and how hits
// are grouped.
#pragma once

#include <cmath>
#include <vector>

#include "cuda/hog/detector.h"
#include "cuda/hog/hog_rules.h"

namespace cudavision::hog {

// One scale.
struct Level {
  double scale;
  Size size;  // of the shrunk picture
  HogShape blocks;
  Size windows;  // how many
};

// Blocks lie on a grid on which every block of every window has a place.
struct Plan {
  HogParams params;    // with the grid's stride
  Size window;         // pixels
  int win_stride;      // pixels
  Size window_blocks;  // blocks of a window
  Size block_step;     // from one to the next, places of the grid
  Size window_step;    // from window to window, places of the grid
  std::vector<Level> levels;
};
Plan make_plan(Size size, const HogModel &model, const HogSearch &search);

// cv::INTER_LINEAR_EXACT along one axis: for each element of the shrunk one 512 times the first of the two
// that it lies between, plus the share of the second, 0 to 256.
std::vector<std::int32_t> resize_taps(int from, int to);
CUDAVISION_HOST_DEVICE constexpr int first_of_tap(std::int32_t tap) { return tap >> 9; }
CUDAVISION_HOST_DEVICE constexpr int share_of_tap(std::int32_t tap) { return tap & 511; }

// cvRound: half to even.
CUDAVISION_HOST_DEVICE inline int round_even(double value) { return static_cast<int>(rint(value)); }

CUDAVISION_HOST_DEVICE inline HogBox box_of_window(double scale, Size window, int win_stride, int col,
                                                   int row, float score) {
  return {round_even(col * win_stride * scale), round_even(row * win_stride * scale),
          round_even(window.width * scale), round_even(window.height * scale), score};
}

// --- cv::HOGDescriptor::groupRectangles, eps 0.2 ---

constexpr double kGroupEps = 0.2;

CUDAVISION_HOST_DEVICE inline bool are_similar(const HogBox &a, const HogBox &b) {
  const int width = a.width < b.width ? a.width : b.width, height = a.height < b.height ? a.height : b.height;
  const double most = kGroupEps * (width + height) * 0.5;
  const auto near = [most](int p, int q) { return (p < q ? q - p : p - q) <= most; };
  return near(a.x, b.x) && near(a.y, b.y) && near(a.x + a.width, b.x + b.width) &&
         near(a.y + a.height, b.y + b.height);
}

// Sums over the hits of a group, the connected ones of similar hits.
struct Group {
  int count = 0;
  int x = 0, y = 0, width = 0, height = 0;  // at most kMaxHogHits times kMaxSide times a few
  float score = 0;
};
CUDAVISION_HOST_DEVICE inline HogBox average(const Group &g) {
  const double share = 1.0 / g.count;
  return {round_even(g.x * share), round_even(g.y * share), round_even(g.width * share),
          round_even(g.height * share), g.score};
}

// Whether a group's box lies within the box of a group of more hits, and gives way to it.
CUDAVISION_HOST_DEVICE inline bool gives_way(const HogBox &box, int count, const HogBox &other,
                                             int other_count) {
  const int dx = round_even(other.width * kGroupEps), dy = round_even(other.height * kGroupEps);
  return box.x >= other.x - dx && box.y >= other.y - dy && box.x + box.width <= other.x + other.width + dx &&
         box.y + box.height <= other.y + other.height + dy &&
         (other_count > (count > 3 ? count : 3) || count < 3);
}

// The part within a picture; false when there is none.
CUDAVISION_HOST_DEVICE inline bool clip_box(Size picture, HogBox *box) {
  const int right = box->x + box->width, bottom = box->y + box->height;
  box->x = box->x > 0 ? box->x : 0, box->y = box->y > 0 ? box->y : 0;
  box->width = (right < picture.width ? right : picture.width) - box->x;
  box->height = (bottom < picture.height ? bottom : picture.height) - box->y;
  return box->width > 0 && box->height > 0;
}

// The boxes of hits, in the order of their groups' first hits; more than `threshold` hits make one.
std::vector<HogBox> group_hits(const std::vector<HogBox> &hits, int threshold);

Status make_hog_detector_cpu(const Execution &execution, Size size, int channels, const HogModel &model,
                             const HogSearch &search, std::unique_ptr<HogDetector> *detector);
Status make_hog_detector_cuda(const Execution &execution, Size size, int channels, const HogModel &model,
                              const HogSearch &search, std::unique_ptr<HogDetector> *detector);

}  // namespace cudavision::hog
