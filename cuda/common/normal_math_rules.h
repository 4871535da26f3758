// SPDX-License-Identifier: LGPL-2.1-or-later
// Correctly rounded quotients and roots for operands far from the limits of a float. On a GPU, a division or a square
// root first tests whether its operands are so small or so large that it needs another method, and has a branch for
// that. The functions below leave out the test and the branch. Everything else is what the compiler generates: an
// approximation, which fused multiply-adds correct until the result is rounded correctly.
#pragma once

#include <cmath>

#include "cuda/common/host_device.h"

namespace cudavision {

// 1 / b. The magnitude of b must lie between 2^-100 and 2^100.
CUDAVISION_HOST_DEVICE inline float normal_inverse(float b) {
#ifdef __CUDA_ARCH__
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
  return fmaf(inverse, fmaf(-b, inverse, 1.0f), inverse);
#else
  return 1.0f / b;
#endif
}

// a / b. The magnitudes of a, of b and of the quotient must lie between 2^-100 and 2^100; a may also be 0.
CUDAVISION_HOST_DEVICE inline float normal_quotient(float a, float b) {
#ifdef __CUDA_ARCH__
  const float inverse = normal_inverse(b);
  float quotient = a * inverse;
  quotient = fmaf(inverse, fmaf(-b, quotient, a), quotient);
  return fmaf(inverse, fmaf(-b, quotient, a), quotient);
#else
  return a / b;
#endif
}

// The square root of a value that is 0 or lies between 2^-100 and 2^100.
CUDAVISION_HOST_DEVICE inline float normal_root(float value) {
#ifdef __CUDA_ARCH__
  // For 0, any finite inverse will do, because it is multiplied by the value.
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(fmaxf(value, 0x1p-100f)));
  const float root = value * inverse;
  return fmaf(fmaf(-root, root, value), 0.5f * inverse, root);
#else
  return sqrtf(value);
#endif
}

}  // namespace cudavision
