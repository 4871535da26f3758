// SPDX-License-Identifier: LGPL-2.1-or-later
// The Hough transform: straight lines, and segments of them, in a map of edges.
//
// Source: "Canny, Hough, Lucas-Kanade and Criminisi on a GPU" (edges, votes, maxima); R. Duda and P. Hart,
// "Use of the Hough Transformation to Detect Lines and Curves in Pictures", CACM 1972. Lines are those of
// cv::HoughLines of OpenCV 4.6 in value, votes and order, ties included, on both backends. Segments are found
// by a walk along each line, the same ones on both backends.
//
// OpenCV 4.7 changed how many directions lie between min_theta and max_theta: floor(range / theta) + 1 instead
// of round(range / theta). The whole range of 0 to pi has as many in both. This code keeps the rule of 4.6 with
// every version of OpenCV, so that a pipeline's results do not depend on what else is installed.
#pragma once

#include <cstdint>
#include <memory>
#include <numbers>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"

namespace cudavision {

enum class HoughMode { lines, segments };

struct HoughParams {
  HoughMode mode = HoughMode::lines;
  double rho = 1;                         // distance of two lines of one direction in pixels: 0.01 to 1000
  double theta = std::numbers::pi / 180;  // angle between two directions in radians: 1e-4 to pi
  // Directions of the normals of the lines, in radians from +x toward +y: from min_theta on, up to max_theta
  // or half a step more or less. 0 to pi, min_theta at most max_theta.
  double min_theta = 0, max_theta = std::numbers::pi;
  int threshold = 150;   // a line has more votes than this: 0 or more
  int max_lines = 4096;  // how many are listed at most: 1 to 1,000,000
  // Of lines that differ by at most so many steps in rho and in theta, only the one of most votes counts (of
  // equals the first in theta, then in rho). 0: as cv::HoughLines. At most 32 steps.
  int nms_radius = 0;
  // An edge pixel votes only for directions within 9 degrees of its gradient (the Sobel operator of 3 on
  // luma; for all where that is 0): about a tenth of the votes, and other results than cv::HoughLines.
  bool gradient_voting = false;
  // Of segments, in pixels: the least distance of their ends, 1 to 32768; and how many steps of the walk in a
  // row may lack an edge, 0 to 16384.
  int min_length = 50, max_gap = 5;

  friend bool operator==(const HoughParams &, const HoughParams &) = default;
};

// Says which value is out of its range.
Status validate(const HoughParams &params);

// The line x cos(theta) + y sin(theta) = rho: pixels and radians, origin at the centre of the first pixel.
struct HoughLine {
  float rho, theta;
  std::uint32_t votes;  // of the line; its segments share them
  // Of a line the ends of its visible part, of a segment the pixels where it ends. The end with the smaller
  // x, then y, comes first.
  float x1, y1, x2, y2;

  friend bool operator==(const HoughLine &, const HoughLine &) = default;
};
struct HoughCount {
  int listed;  // min(found, max_lines)
  int found;   // lines, or segments
  int peaks;  // lines of more votes than the threshold: segments are sought along the first max_lines of them

  friend bool operator==(const HoughCount &, const HoughCount &) = default;
};
// What run() writes, in the backend's memory: lines, room for max_lines, of which the first count->listed are
// written. Lines come by votes, most first, then by theta, then by rho; segments in the order of their lines,
// then along them.
struct HoughList {
  HoughLine *lines;
  HoughCount *count;
};

// The size of the accumulator: directions and distances, as cv::HoughLines counts them. Either may be 0; then
// nothing is found.
struct HoughShape {
  int angles, rhos;
};
HoughShape hough_shape(Size size, const HoughParams &params);

// Refuses parameters whose accumulator would be larger than 2 GiB for pictures of this size; names its bytes.
Status check_accumulator(Size size, const HoughParams &params);

// Finds lines in maps of one size. Owns its scratch. Not thread-safe: one per stream.
class Hough {
 public:
  virtual ~Hough() = default;

  // edges: h x w, uint8, whatever is not 0 is an edge. luma: h x w, uint8, read with gradient_voting alone,
  // otherwise it may be empty. Both in the backend's memory, of the size given to make_hough. CUDA: enqueues
  // two kernels for lines and four for segments. Allocates only in the first call, and when rho, theta,
  // min_theta, max_theta, max_lines, min_length or max_gap, or the need for segments or gradients, change.
  // Refuses what validate() and check_accumulator() refuse; every error of memory names bytes.
  virtual Status run(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma,
                     const HoughParams &params, const HoughList &list) = 0;

  // The votes of the last run, which must have succeeded: angles x rhos of its shape, in the backend's
  // memory. CUDA: enqueues one kernel.
  virtual Status copy_votes(ImageView<std::uint32_t> votes) = 0;
};

// Scratch. CUDA: 4 bytes a pixel, 2 more with gradient_voting, 4 more for segments; twice the accumulator, 4
// bytes for each pair of a direction and a distance that a pixel can have; for segments max_lines times 16
// bytes for each segment that fits on a line. CPU: the accumulator, 4 bytes an edge pixel, 4 bytes a pixel
// for segments.
Status make_hough(const Execution &execution, Size size, std::unique_ptr<Hough> *hough);

}  // namespace cudavision
