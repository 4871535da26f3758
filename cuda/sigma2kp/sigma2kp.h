// SPDX-License-Identifier: LGPL-2.1-or-later
// The sigma^2 keypoint detector: finds the points of greatest local variance in an image, and their orientation.
//
// B. Zalesky and Ph. Trotski, "Parallel version of detector of extremal key points on images", Informatics 15
// (2), 2018, pp. 55-63: equations 1 and 2, and the algorithm of section 2. The variance sigma^2 of a window
// of k x k pixels is compared as the integer S = k^2 sum(I^2) - (sum I)^2 = k^4 sigma^2, called strength
// here, so that ties are exact. The position of a window is its top left pixel. Only windows inside the image
// count. A cell is a square of l x l windows; only cells that lie completely among these windows count.
#pragma once

#include <cstdint>
#include <memory>
#include <numbers>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"
#include "cuda/common/places.h"
#include "cuda/common/range.h"
#include "cuda/gradient/gradient.h"

namespace cudavision {

enum class Sigma2KpDefinition {
  // Section 2 of the paper: one grid of cells covers the image, and further grids are shifted by half a cell (l / 2,
  // rounded down). In each cell the window of the greatest strength (among equal ones the first in row-major order) is
  // a keypoint if it is nearer than tau to the centre of the cell and if not all strengths of the cell are equal. The
  // centre is (l / 2, l / 2), not rounded, relative to the first window of the cell.
  grid,
  // Equation 2 of the paper: window p is a keypoint if there is a position q at a distance of at most tau
  // from p so that p has the greatest strength (ties allowed) in the cell of q, and this cell contains a
  // smaller strength. The cell of q begins at q - l / 2 (rounded down) and must contain p.
  dense,
};

struct Sigma2KpParams {
  // k: the side of a window in pixels.
  int window = 5;
  // l: the side of a cell in windows.
  int cell = 4;
  // The tolerance around the centre of a cell in pixels: more than 0 and less than cell / 2.
  double tau = 1.0;
  // The number of grids: 2 (not shifted; shifted by half a cell along both axes) or 4 (also shifted along x
  // only and along y only). Not used by `dense`.
  int grids = 2;
  Sigma2KpDefinition definition = Sigma2KpDefinition::grid;
  // A keypoint is dropped if a stronger one is closer than min_distance pixels, even if the stronger one is dropped,
  // too. Of two keypoints with the same strength the first in row-major order is the stronger one. Keypoints are
  // dropped before max_keypoints is applied.
  int min_distance = 0;
  // The maximum length of the list: the strongest keypoints are listed.
  int max_keypoints = 65536;
  // Computes the orientation of each listed keypoint: the fullest bin of the histogram of gradients around the
  // keypoint, or the first one of equally full bins. Bin i begins at exactly 360 i / orientation_bins degrees and is
  // half-open (cuda/gradient/orientation_rules.h). Zero gradients are not counted. The square in which gradients are
  // counted is centred at the centre of the window, or half a pixel left of and above it, and is clipped to the image.
  bool orientation = false;
  // The side, in pixels, of the square in which gradients are counted.
  int orientation_window = 16;
  int orientation_bins = 36;
  GradientOperator op = GradientOperator::sobel;
  GradientWeight weight = GradientWeight::count;

  friend bool operator==(const Sigma2KpParams &, const Sigma2KpParams &) = default;
};

struct Sigma2KpRanges {
  static constexpr Range<int> window{3, 31};
  static constexpr Range<int> cell{2, 32};
  // The range of the element's property. validate() requires 0 < tau < cell / 2.
  static constexpr Range<double> tau{1e-3, 15.999};
  static constexpr Range<int> min_distance{0, 255};
  static constexpr Range<int> max_keypoints{1, 1000000};
  static constexpr Range<int> orientation_window{2, 64};
  static constexpr Range<int> orientation_bins{1, kMaxOrientations};
};

// Fails if a parameter is out of its range; the error names the parameter.
Status validate(const Sigma2KpParams &params);

// The orientation was not requested, or there is no gradient around the keypoint.
constexpr int kNoOrientation = -1;

struct Sigma2Keypoint {
  std::uint64_t strength;    // S, less than 2^34
  std::uint16_t x, y;        // the top left pixel of the window
  std::int32_t orientation;  // the bin, or kNoOrientation

  friend bool operator==(const Sigma2Keypoint &, const Sigma2Keypoint &) = default;
};

// The centre of a window along one axis, in pixels. first: its first pixel.
CUDAVISION_HOST_DEVICE constexpr float center_of_window(int first, int window) {
  return static_cast<float>(first) + static_cast<float>(window - 1) * 0.5f;
}
// sigma^2 in grey levels squared.
CUDAVISION_HOST_DEVICE constexpr double variance_of(std::uint64_t strength, int window) {
  return static_cast<double>(strength) / (double{1} * window * window * window * window);
}
// The centre of an orientation bin, in radians from +x toward +y.
constexpr double angle_of_bin(int bin, int bins) { return (bin + 0.5) * 2 * std::numbers::pi / bins; }

struct Sigma2KpCount {
  int listed;  // min(found, max_keypoints)
  int found;   // the number of keypoints that min_distance keeps

  friend bool operator==(const Sigma2KpCount &, const Sigma2KpCount &) = default;
};
// The output of run(), in the backend's memory. `keypoints` must have space for max_keypoints elements, of
// which run() writes the first count->listed in row-major order: sorted by y, then by x.
struct Sigma2KpList {
  Sigma2Keypoint *keypoints;
  Sigma2KpCount *count;
};

// Finds keypoints in images of one size. Owns its scratch memory. Not thread-safe: use one instance per stream.
class Sigma2Kp {
 public:
  virtual ~Sigma2Kp() = default;

  // luma: height x width, uint8, in the backend's memory, with the size given to make_sigma2kp(). input: when the luma
  // is complete. An image that is smaller than a window or than a cell has no keypoints. The list is the same on both
  // backends and does not depend on the order of the threads. CUDA: enqueues one kernel, one more with min_distance and
  // one more with orientation. Allocates memory only in the first call and when parameters change. Fails if validate()
  // fails; errors about memory state the number of bytes.
  // places: only keypoints count whose centre pixel, (x + window / 2, y + window / 2) rounded down, is in a region: all
  // other keypoints are dropped before min_distance and max_keypoints are applied. CPU: only rows with regions are
  // analysed; CUDA: only tiles with regions, or, if there is no region, one kernel that writes the empty list.
  virtual Status run(ImageView<const std::uint8_t> luma, const Sigma2KpParams &params,
                     const Sigma2KpList &list, Input input = Input::in_stream_order,
                     const Places &places = {}) = 0;
};

// Needs scratch memory. CUDA: two bits per pixel; 12 bytes for each possible keypoint (one per cell of each grid, or
// one per pixel with `dense`), 13 with min_distance; and a few bytes per row. CPU: for each thread 70 rows of 5 bytes
// per pixel (9 for windows larger than 22), up to 190 rows for large cells; about 40 bytes for each keypoint; and
// 4 bytes per pixel if so many keypoints are oriented that the gradients of the whole image are computed.
Status make_sigma2kp(const Execution &execution, Size size, std::unique_ptr<Sigma2Kp> *sigma2kp);

}  // namespace cudavision
