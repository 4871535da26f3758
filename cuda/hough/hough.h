// SPDX-License-Identifier: LGPL-2.1-or-later
// The Hough transform: finds straight lines and line segments in an edge map.
//
// R. Duda and P. Hart, "Use of the Hough Transformation to Detect Lines and Curves in Pictures", Communications of the
// ACM, 1972; N. Pazos Mendez and D. Reyes Mesarra, "Procesamiento de imagenes en GPU" (edges, votes and maxima on a
// GPU). Lines equal those of cv::HoughLines of OpenCV 4.6 in value, votes and order, ties included, on both backends.
// Segments are found by a walk along each line (walk_rules.h) and are also the same on both backends.
//
// OpenCV 4.7 changed how many directions lie between min_theta and max_theta: floor(range / theta) + 1 instead of
// round(range / theta). For the whole range from 0 to pi both rules give the same number. This code keeps the rule of
// 4.6 regardless of the installed version of OpenCV, so that results do not depend on it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"
#include "cuda/common/range.h"

namespace cudavision {

enum class HoughMode { lines, segments };

struct HoughParams {
  HoughMode mode = HoughMode::lines;
  // The resolution of rho in pixels.
  double rho = 1;
  // The resolution of theta in radians.
  double theta = std::numbers::pi / 180;
  // The range of theta, the direction of a line's normal, in radians from +x toward +y. The last direction is
  // at most half a step of theta away from max_theta. min_theta must not exceed max_theta, nor be more than half a turn
  // below it. Lines of a negative direction are reported with theta + pi and -rho, which are the same lines.
  double min_theta = 0, max_theta = std::numbers::pi;
  // A line is reported if it has more votes than this.
  int threshold = 150;
  // The maximum length of the list of lines or segments.
  int max_lines = 4096;
  // The radius of the non-maximum suppression, in steps of rho and of theta: of the lines within this radius of one
  // another only the one with the most votes is kept (of equal ones the first by theta, then by rho). If the directions
  // cover half a turn, the last one is next to the first one, with the opposite sign of rho. 0: as cv::HoughLines.
  int nms_radius = 0;
  // An edge pixel votes only for directions within 9 degrees of its gradient (the 3x3 Sobel operator on the
  // luma), or for all directions if the gradient is zero. This casts about a tenth of the votes, and the
  // results differ from those of cv::HoughLines.
  bool gradient_voting = false;
  // Segments: the minimum distance between the two ends in pixels, and the maximum number of consecutive
  // steps of the walk without an edge.
  int min_length = 50, max_gap = 5;

  friend bool operator==(const HoughParams &, const HoughParams &) = default;
};

struct HoughRanges {
  // Pi rounded to a float, which is slightly more than pi.
  static constexpr double kPiAsFloat = static_cast<float>(std::numbers::pi);

  static constexpr Range<double> rho{0.01, 1000};
  // The element's properties have a maximum of exactly pi.
  static constexpr Range<double> theta{1e-4, kPiAsFloat}, min_theta{-kPiAsFloat, kPiAsFloat},
      max_theta{0, kPiAsFloat};
  static constexpr Range<int> threshold{0, std::numeric_limits<int>::max()};
  static constexpr Range<int> max_lines{1, 1000000};
  static constexpr Range<int> nms_radius{0, 32};
  static constexpr Range<int> min_length{1, 32768};
  static constexpr Range<int> max_gap{0, 16384};
};

// Fails if a parameter is out of its range; the error names the parameter.
Status validate(const HoughParams &params);

// The line x cos(theta) + y sin(theta) = rho, in pixels and radians; the origin is the centre of the top left pixel.
struct HoughLine {
  float rho, theta;
  // The votes of the line. The segments of a line all have the votes of that line.
  std::uint32_t votes;
  // Lines: the ends of the visible part. Segments: the pixels at both ends. The end with the smaller x comes
  // first, or the end with the smaller y if x is equal.
  float x1, y1, x2, y2;

  friend bool operator==(const HoughLine &, const HoughLine &) = default;
};
struct HoughCount {
  int listed;  // min(found, max_lines)
  int found;   // the number of lines, or of segments
  int peaks;   // the number of lines above the threshold; the first max_lines are searched for segments

  friend bool operator==(const HoughCount &, const HoughCount &) = default;
};
// The output of run(), in the backend's memory. `lines` must have space for max_lines elements, of which run() writes
// the first count->listed. Lines are sorted by votes (most first), then by the direction from min_theta on, then by
// rho. Segments are sorted in the order of their lines, then by their position along the line.
struct HoughList {
  HoughLine *lines;
  HoughCount *count;
};

// The size of the accumulator: the numbers of directions and of distances, as cv::HoughLines counts them.
// Either number can be 0; then no line is found.
struct HoughShape {
  int angles, rhos;
};
HoughShape hough_shape(Size size, const HoughParams &params);

// Fails if the parameters are invalid or if their accumulator would exceed 2 GiB for images of this size; the
// error states the number of bytes.
Status check_accumulator(Size size, const HoughParams &params);

// Finds lines in edge maps of one size. Owns its scratch memory. Not thread-safe: use one instance per stream.
class Hough {
 public:
  virtual ~Hough() = default;

  // edges: height x width, uint8; every nonzero pixel is an edge. luma: height x width, uint8; read only with
  // gradient_voting, otherwise it may be empty. Both must be in the backend's memory and have the size given to
  // make_hough(). CUDA: enqueues five kernels for lines and nine for segments. Allocates memory only in the first call
  // and when rho, theta, min_theta, max_theta, max_lines or min_length change, or when segments or gradient voting are
  // first requested; CPU: also when a picture has more points than those before. Fails if validate() or
  // check_accumulator() fail; errors about memory state the number of bytes.
  virtual Status run(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma,
                     const HoughParams &params, const HoughList &list) = 0;

  // Copies the accumulator of the last run, which must have succeeded. votes: `angles` rows of `rhos`
  // elements (see HoughShape), in the backend's memory. CUDA: enqueues one kernel.
  virtual Status copy_votes(ImageView<std::uint32_t> votes) = 0;
};

// Needs scratch memory. CUDA: 4 bytes per pixel, 2 more with gradient_voting and 4 more for segments; twice the
// accumulator, which takes 4 bytes for each pair of a direction and a distance that a pixel can have; for segments,
// max_lines times 8 bytes, and 16 more for each segment that fits on a line. CPU: the accumulator, 8 bytes per edge
// pixel, 2 more with gradient_voting, and 4 bytes per pixel for segments.
Status make_hough(const Execution &execution, Size size, std::unique_ptr<Hough> *hough);

}  // namespace cudavision
