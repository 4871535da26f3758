// SPDX-License-Identifier: LGPL-2.1-or-later
// Validation for Canny, its integer thresholds, and the choice of a backend.
#include "cuda/canny/canny.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cuda/canny/canny_backends.h"
#include "cuda/common/check_fits.h"
#include "cuda/common/check_range.h"
#include "cuda/gaussian/gaussian.h"

namespace cudavision {

Status validate(const CannyParams &params) {
  CUDAVISION_TRY(check_range("low-threshold", params.low_threshold, CannyRanges::low_threshold));
  CUDAVISION_TRY(check_range("high-threshold", params.high_threshold, CannyRanges::high_threshold));
  if (params.aperture != 3 && params.aperture != 5 && params.aperture != 7)
    return invalid_argument("aperture must be 3, 5 or 7, not " + std::to_string(params.aperture));
  return validate_gaussian_sigma(params.gaussian_sigma);
}

double max_gradient(int aperture) {
  // The Sobel operator smooths along one axis and differentiates along the other.
  static constexpr int kSmooth[3][7] = {{1, 2, 1}, {1, 4, 6, 4, 1}, {1, 6, 15, 20, 15, 6, 1}};
  static constexpr int kDerive[3][7] = {{-1, 0, 1}, {-1, -2, 0, 2, 1}, {-1, -4, -5, 0, 5, 4, 1}};
  const int *smooth = kSmooth[aperture / 2 - 1], *derive = kDerive[aperture / 2 - 1];
  // By symmetry the largest |dx| + |dy| equals the largest dx + dy. This occurs where only the pixels with positive
  // weights in dx + dy are white.
  int white = 0;
  for (int y = 0; y < aperture; ++y)
    for (int x = 0; x < aperture; ++x) white += std::max(smooth[y] * derive[x] + derive[y] * smooth[x], 0);
  return 255.0 * white + (aperture == 7 ? 32 : 0);  // 32 bounds the rounding of gradients to multiples of 16
}

canny::Thresholds canny::integer_thresholds(const CannyParams &params) {
  double low = params.low_threshold, high = params.high_threshold;
  if (low > high) std::swap(low, high);
  if (params.aperture == 7) low /= 16, high /= 16;
  if (params.l2_gradient) {
    low = std::min(low, 32767.0), high = std::min(high, 32767.0);
    low *= low, high *= high;
  }
  return {static_cast<int>(std::floor(low)), static_cast<int>(std::floor(high))};
}

Status canny::check_run(Size luma, Size edges, Size made_for, const CannyParams &params) {
  CUDAVISION_TRY(check_fits("luma", luma, made_for));
  CUDAVISION_TRY(check_size("edges", edges, luma));
  return validate(params);
}

Status make_canny(const Execution &execution, Size size, std::unique_ptr<Canny> *canny) {
  return make_on_backend(execution, size, canny, CUDAVISION_BACKENDS(canny::make_canny));
}

}  // namespace cudavision
