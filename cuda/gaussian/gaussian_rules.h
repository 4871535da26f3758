// SPDX-License-Identifier: LGPL-2.1-or-later
// What both backends of the Gaussian share.
#pragma once

#include "cuda/gaussian/gaussian.h"

namespace cudavision::gaussian {

// What Gaussian::run refuses: images of another size than it was made for, a sigma out of range or 0.
Status check_run(Size src, Size dst, Size made_for, double sigma);

// The weights from the centre outward, by value: a kernel takes them as an argument.
struct Weights {
  int radius = 0;
  std::uint16_t w[kMaxGaussianRadius + 1] = {};
};

// Computes the weights when sigma changes, not for each frame.
class WeightsOfSigma {
 public:
  const Weights &of(double sigma);

 private:
  double sigma_ = 0;
  Weights weights_;
};

Status make_gaussian_cpu(const Execution &execution, Size size, std::unique_ptr<Gaussian> *gaussian);
Status make_gaussian_cuda(const Execution &execution, Size size, std::unique_ptr<Gaussian> *gaussian);

}  // namespace cudavision::gaussian
