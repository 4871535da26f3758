// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of the Gaussian, and the host code that they share.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/gaussian/gaussian.h"

namespace cudavision::gaussian {

// Returns an error if Gaussian::run() must refuse its arguments: src is larger than made_for, dst has another size than
// src, or sigma is 0 or out of range.
Status check_run(Size src, Size dst, Size made_for, double sigma);

// gaussian_weights(sigma) in a structure of fixed size.
struct Weights {
  int radius = 0;
  std::uint16_t w[kMaxGaussianRadius + 1] = {};  // w[0] is the centre's
};

// Caches the weights: they are computed only if sigma has changed since the last call.
class WeightsOfSigma {
 public:
  const Weights &of(double sigma);

 private:
  double sigma_ = 0;
  Weights weights_;
};

decltype(make_gaussian) make_gaussian_cpu, make_gaussian_cuda;

}  // namespace cudavision::gaussian
