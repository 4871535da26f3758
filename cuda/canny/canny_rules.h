// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of Canny that both backends share, so that each rule stands in one place.
#pragma once

#include <cstdint>

#include "cuda/canny/canny.h"
#include "cuda/common/host_device.h"

namespace cudavision::canny {

// The Sobel operator of one aperture is the outer product of a smoothing and a derivative row, both of
// `aperture` coefficients. Of aperture 7 the result is divided by 16, as cv::Canny does, rounded half to
// even.
template <int kAperture>
CUDAVISION_HOST_DEVICE constexpr int smooth_coefficient(int k) {
  constexpr int k3[] = {1, 2, 1}, k5[] = {1, 4, 6, 4, 1}, k7[] = {1, 6, 15, 20, 15, 6, 1};
  return kAperture == 3 ? k3[k] : kAperture == 5 ? k5[k] : k7[k];
}
template <int kAperture>
CUDAVISION_HOST_DEVICE constexpr int derive_coefficient(int k) {
  constexpr int k3[] = {-1, 0, 1}, k5[] = {-1, -2, 0, 2, 1}, k7[] = {-1, -4, -5, 0, 5, 4, 1};
  return kAperture == 3 ? k3[k] : kAperture == 5 ? k5[k] : k7[k];
}

// v / 16, rounded half to even.
CUDAVISION_HOST_DEVICE constexpr int divide_by_16(int v) { return (v + 7 + ((v >> 4) & 1)) >> 4; }

template <int kAperture>
CUDAVISION_HOST_DEVICE constexpr int scale_gradient(int v) {
  return kAperture == 7 ? divide_by_16(v) : v;
}

// |dx| + |dy|, or its L2 sibling dx^2 + dy^2 (squared: the thresholds are squared too).
template <bool kL2>
CUDAVISION_HOST_DEVICE constexpr int magnitude(int dx, int dy) {
  return kL2 ? dx * dx + dy * dy : (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
}

// The direction across the edge, along which its magnitude must be a maximum. Falling: x and y grow together.
enum class Sector : unsigned { horizontal = 0, vertical = 1, falling = 2, rising = 3 };

// OpenCV decides by |dy| * 2^15 < |dx| * 13573 (tan 22.5 degrees in Q15: horizontal) and |dy| * 2^15 > |dx| *
// 13573 + |dx| * 2^16 (tan 67.5 degrees: vertical). With t = floor(|dx| * 13573 / 2^15) these are |dy| <= t
// and |dy| > t + 2 |dx|: 13573 is odd, so |dx| * 13573 / 2^15 is no integer for 0 < |dx| < 2^15, and where
// both derivatives are 0 the magnitude exceeds no threshold. In this form 16 bits suffice.
CUDAVISION_HOST_DEVICE constexpr Sector sector(int dx, int dy) {
  const int x = dx < 0 ? -dx : dx, y = dy < 0 ? -dy : dy;
  const int t = static_cast<int>((static_cast<unsigned>(x) * 13573u) >> 15);
  if (y <= t) return Sector::horizontal;
  if (y > t + 2 * x) return Sector::vertical;
  return (dx ^ dy) < 0 ? Sector::rising : Sector::falling;
}

// The integer thresholds that magnitudes are compared with: m > low is weak, m > high is strong.
struct Thresholds {
  int low = 0, high = 0;
};
Thresholds integer_thresholds(const CannyParams &params);

// What Canny::run refuses: images of another size than it was made for, invalid parameters.
Status check_run(Size luma, Size edges, Size made_for, const CannyParams &params);

Status make_canny_cpu(const Execution &execution, Size size, std::unique_ptr<Canny> *canny);
Status make_canny_cuda(const Execution &execution, Size size, std::unique_ptr<Canny> *canny);

}  // namespace cudavision::canny
