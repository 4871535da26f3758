// SPDX-License-Identifier: LGPL-2.1-or-later
// The sigma^2 detector: keypoints where the local variance of a picture is greatest, and their orientation.
//
// Source: B. Zalesky and Ph. Trotski, "Parallel version of detector of extremal key points on images",
// Informatics 15-3, 2018: equations 1 and 2, and the algorithm of section 2. The variance of a window of k
// x k pixels is compared as the integer S = k^2 sum(I^2) - (sum I)^2 = k^4 sigma^2, so that ties are ties.
// A window is named by its top left pixel; those that lie wholly inside the picture count, and so do
// squares of l x l windows that lie wholly among them.
#pragma once

#include <cstdint>
#include <memory>
#include <numbers>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"
#include "cuda/gradient/samples.h"

namespace cudavision {

enum class Sigma2Definition {
  // Section 2: squares that tile the plane, and tile it again shifted by half a side (l / 2 rounded down).
  // The greatest S of a square, the first in raster order of equal ones, is a keypoint where it is not also
  // the least and lies nearer than tau to the square's centre, (l / 2, l / 2) right of and below its first
  // window.
  grid,
  // Equation 2: p is a keypoint when for some q not farther than tau the square of q, from q - l / 2 (rounded
  // down) on, holds p, no greater S than that of p, and a lesser one.
  dense,
};

struct Sigma2KpParams {
  int window = 5;    // k: 3 to 31 pixels
  int cell = 4;      // l: 2 to 32 windows
  double tau = 1.0;  // pixels, more than 0 and less than cell / 2
  int grids = 2;     // 2: shifted by (0, 0) and by half a side both ways; 4: also by half a side one way
  Sigma2Definition definition = Sigma2Definition::grid;
  // Thinning, in this order. Of keypoints nearer to each other than min_distance, in pixels, only those count
  // that none of the others outdoes: has a greater S, or the same and comes first in raster order. 0 to 255.
  int min_distance = 0;
  int max_keypoints = 65536;  // those of greatest S, the first of equal ones: 1 to 1,000,000
  // The orientation: which bin of the histogram of gradients around the keypoint holds most, the first of
  // equals. Bins are half-open from 360 i / L degrees on, exactly (gradient/orientation.h); a gradient that
  // is zero is not counted. The square has its centre where the window has it, or half a pixel left of and
  // above it; where it leaves the picture it is clipped.
  bool orientation = false;
  int orientation_window = 16;  // pixels: 2 to 64
  int orientation_bins = 36;    // 1 to 360
  GradientOperator op = GradientOperator::sobel;
  GradientWeight weight = GradientWeight::count;

  friend bool operator==(const Sigma2KpParams &, const Sigma2KpParams &) = default;
};

// Says which value is out of its range.
Status validate(const Sigma2KpParams &params);

constexpr int kNoOrientation = -1;  // not asked for, or no gradient around the keypoint

struct Sigma2Keypoint {
  std::uint64_t strength;    // S, less than 2^34
  std::uint16_t x, y;        // the top left pixel of its window
  std::int32_t orientation;  // the bin, or kNoOrientation

  friend bool operator==(const Sigma2Keypoint &, const Sigma2Keypoint &) = default;
};

// The centre of a window that begins at pixel first, along one axis.
CUDAVISION_HOST_DEVICE constexpr float center_of_window(int first, int window) {
  return static_cast<float>(first) + static_cast<float>(window - 1) * 0.5f;
}
// sigma^2, in grey levels squared.
constexpr double variance_of(std::uint64_t strength, int window) {
  return static_cast<double>(strength) / (double{1} * window * window * window * window);
}
// The middle of a bin, in radians from +x toward +y.
constexpr double angle_of_bin(int bin, int bins) { return (bin + 0.5) * 2 * std::numbers::pi / bins; }

struct Sigma2Count {
  int listed;  // min(found, max_keypoints)
  int found;   // keypoints that min_distance leaves

  friend bool operator==(const Sigma2Count &, const Sigma2Count &) = default;
};
// What run() writes, in the backend's memory: keypoints, room for max_keypoints, of which the first
// count->listed are written, in raster order: by y, then by x.
struct Sigma2List {
  Sigma2Keypoint *keypoints;
  Sigma2Count *count;
};

// Finds keypoints in pictures of one size. Owns its scratch. Not thread-safe: one per stream.
class Sigma2Kp {
 public:
  virtual ~Sigma2Kp() = default;

  // luma: h x w, uint8, in the backend's memory, of the size given to make_sigma2kp; smaller than a window
  // or than a square of windows it has no keypoint. The list is the same on both backends and for every
  // order of threads. CUDA: enqueues one kernel, one more with min_distance and one more with orientation.
  // Allocates only in the first call and when parameters change. Refuses what validate() refuses; errors of
  // memory name bytes.
  virtual Status run(ImageView<const std::uint8_t> luma, const Sigma2KpParams &params,
                     const Sigma2List &list) = 0;
};

// Scratch. CUDA: a bit a pixel, 12 bytes for every keypoint that there can be (one a square of each grid, one a
// pixel of `dense`), 13 with min_distance, and a few bytes a row. CPU: for each thread 70 rows of 5 or, of windows
// above 22, 9 bytes a pixel, up to 190 rows where cells are large; some 40 bytes for every keypoint that there is;
// and 2 or 4 bytes a pixel once so many are oriented that gradients of the whole picture are computed.
Status make_sigma2kp(const Execution &execution, Size size, std::unique_ptr<Sigma2Kp> *room);

}  // namespace cudavision
