// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of Canny that both backends share.
#pragma once

#include "cuda/common/host_device.h"

namespace cudavision::canny {

// The Sobel operator is separable: the outer product of a smoothing and a derivative filter, each with `aperture`
// coefficients. With aperture 7 the result is divided by 16 and rounded half to even, as in cv::Canny.
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

// The L1 magnitude |dx| + |dy|, or the square dx^2 + dy^2 of the L2 magnitude. The L2 thresholds are squared too.
template <bool kL2>
CUDAVISION_HOST_DEVICE constexpr int magnitude(int dx, int dy) {
  return kL2 ? dx * dx + dy * dy : (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
}

// The direction of the gradient, quantised to four. Non-maximum suppression compares a pixel with its two
// neighbours in this direction. falling: the diagonal along which x and y grow together.
enum class Sector : unsigned { horizontal = 0, vertical = 1, falling = 2, rising = 3 };

// OpenCV decides in Q15, where tan 22.5 degrees is 13573 and tan 67.5 degrees is 13573 + 2^16:
//   horizontal if |dy| * 2^15 < |dx| * 13573, vertical if |dy| * 2^15 > |dx| * 13573 + |dx| * 2^16.
// With t = floor(|dx| * 13573 / 2^15) these are |dy| <= t and |dy| > t + 2 |dx|, which 16 bits can hold. They
// are equivalent because |dx| * 13573 / 2^15 is not an integer for 0 < |dx| < 2^15 (13573 is odd); where both
// derivatives are 0, the magnitude exceeds no threshold and the sector does not matter.
CUDAVISION_HOST_DEVICE constexpr Sector sector(int dx, int dy) {
  const int x = dx < 0 ? -dx : dx, y = dy < 0 ? -dy : dy;
  const int t = static_cast<int>((static_cast<unsigned>(x) * 13573u) >> 15);
  if (y <= t) return Sector::horizontal;
  if (y > t + 2 * x) return Sector::vertical;
  return (dx ^ dy) < 0 ? Sector::rising : Sector::falling;
}

// The integer thresholds: a pixel of magnitude m is weak if m > low and strong if m > high.
struct Thresholds {
  int low = 0, high = 0;
};

}  // namespace cudavision::canny
