// SPDX-License-Identifier: LGPL-2.1-or-later
// Validation for the Gaussian, its weights, and the choice of a backend.
#include "cuda/gaussian/gaussian.h"

#include <algorithm>
#include <cmath>

#include "cuda/common/check_fits.h"
#include "cuda/common/check_range.h"
#include "cuda/gaussian/gaussian_backends.h"

namespace cudavision {

Status validate_gaussian_sigma(double sigma) {
  return check_range("gaussian-sigma", sigma, GaussianRanges::sigma);
}

std::vector<std::uint16_t> gaussian_weights(double sigma) {
  constexpr int kOne = 1 << kGaussianFractionBits;
  const int radius = (static_cast<int>(std::nearbyint(sigma * 6 + 1)) | 1) / 2;
  std::vector<double> exact(static_cast<std::size_t>(radius) + 1);
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    const double weight = std::exp(-0.5 / (sigma * sigma) * i * i);
    exact[static_cast<std::size_t>(std::abs(i))] = weight;
    sum += weight;
  }
  std::vector<std::uint16_t> weights(exact.size());
  int rest = kOne;
  double error = 0;
  for (std::size_t i = exact.size() - 1; i > 0; --i) {
    const double adjusted = exact[i] / sum * kOne + error;
    const double rounded = std::nearbyint(adjusted);
    error = adjusted - rounded;
    weights[i] = static_cast<std::uint16_t>(rounded);
    rest -= 2 * weights[i];
  }
  weights[0] = static_cast<std::uint16_t>(rest);
  return weights;
}

Status gaussian::check_run(Size src, Size dst, Size made_for, double sigma) {
  CUDAVISION_TRY(check_fits("src", src, made_for));
  CUDAVISION_TRY(check_size("dst", dst, src));
  if (sigma == 0) return invalid_argument("gaussian-sigma must be positive, not 0");
  return validate_gaussian_sigma(sigma);
}

const gaussian::Weights &gaussian::WeightsOfSigma::of(double sigma) {
  if (sigma != sigma_) {
    const std::vector<std::uint16_t> w = gaussian_weights(sigma);
    weights_.radius = static_cast<int>(w.size()) - 1;
    std::copy(w.begin(), w.end(), weights_.w);
    sigma_ = sigma;
  }
  return weights_;
}

Status make_gaussian(const Execution &execution, Size size, std::unique_ptr<Gaussian> *gaussian) {
  return make_on_backend(execution, size, gaussian, CUDAVISION_BACKENDS(gaussian::make_gaussian));
}

}  // namespace cudavision
