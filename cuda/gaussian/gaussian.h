// SPDX-License-Identifier: LGPL-2.1-or-later
// Gaussian smoothing of 8-bit pictures in fixed point. The result equals that of cv::GaussianBlur byte for byte.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"
#include "cuda/common/range.h"

namespace cudavision {

struct GaussianRanges {
  static constexpr Range<double> sigma{0, 16};  // pixels; 0: no smoothing
};
constexpr int kMaxGaussianRadius = 48;    // pixels: 3 sigma, as in OpenCV
constexpr int kGaussianFractionBits = 8;  // of a weight

// Returns an error if sigma is outside GaussianRanges::sigma or NaN.
Status validate_gaussian_sigma(double sigma);

// The weights w[0] (centre), w[1], ... outward, in units of 1/256, with w[0] + 2 (w[1] + w[2] + ...) = 256.
// The filter has round(6 sigma + 1) | 1 taps, both sides counted. As in OpenCV, the rounding error of each
// weight is carried over to the next one, from the outermost weight inward, and the centre takes the
// remainder. sigma must be positive and in range.
std::vector<std::uint16_t> gaussian_weights(double sigma);

// Smooths pictures up to the size given to make_gaussian(). Not thread-safe: use one instance per stream.
class Gaussian {
 public:
  virtual ~Gaussian() = default;
  // src, dst: h x w, uint8. Both must be in the backend's memory, have at most the size given to make_gaussian(), and
  // not overlap. dst is set to the separable convolution of src with gaussian_weights(sigma), rows first, rounded once
  // (half up). Outside the picture src is mirrored without repeating the border pixel. sigma must be positive. CUDA:
  // enqueues one kernel, or one copy if sigma is so small that nothing is smoothed. Errors: a sigma of 0 or out of
  // range, wrong sizes, and errors of the device.
  virtual Status run(ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst, double sigma) = 0;
};

Status make_gaussian(const Execution &execution, Size size, std::unique_ptr<Gaussian> *gaussian);

}  // namespace cudavision
