// SPDX-License-Identifier: LGPL-2.1-or-later
// Gaussian smoothing of 8-bit pictures in fixed point, equal to cv::GaussianBlur byte for byte.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"

namespace cudavision {

constexpr double kMaxGaussianSigma = 16;  // pixels
constexpr int kMaxGaussianRadius = 48;    // pixels: 3 sigma, as OpenCV has it
constexpr int kGaussianFractionBits = 8;  // of a weight

// sigma: 0 to kMaxGaussianSigma, finite.
Status validate_gaussian_sigma(double sigma);

// The weights from the centre outward, w[0] being the centre's, in units of 1/256; w[0] + 2 (w[1] + w[2] +
// ...) = 256. There are round(6 sigma + 1) | 1 of them with both sides counted; as in OpenCV the rounding
// error of each is carried over to the next, from the outside inward, and the centre takes what is left.
std::vector<std::uint16_t> gaussian_weights(double sigma);

// Smooths pictures of one size. Not thread-safe: one per stream.
class Gaussian {
 public:
  virtual ~Gaussian() = default;
  // src, dst: h x w, uint8, not overlapping, of the size given to make_gaussian, in the backend's memory. dst
  // becomes the separable convolution with gaussian_weights(sigma), rows first, rounded once (half up).
  // Outside the picture src is mirrored without repeating its border pixel. CUDA: enqueues one kernel, or one
  // copy where sigma is so small that nothing is smoothed.
  virtual Status run(ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst, double sigma) = 0;
};

Status make_gaussian(const Execution &execution, Size size, std::unique_ptr<Gaussian> *gaussian);

}  // namespace cudavision
