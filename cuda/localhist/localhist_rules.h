// SPDX-License-Identifier: LGPL-2.1-or-later
// Arithmetic of local histograms that both backends share: bins and weights of pixels, sums, and reductions.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "cuda/common/host_device.h"
#include "cuda/gradient/samples_rules.h"
#include "cuda/localhist/localhist.h"

namespace cudavision::localhist {

// --- pixels ---

using Sample = GradientSample;

CUDAVISION_HOST_DEVICE constexpr int brightness_bin(int value, int bins) { return value * bins >> 8; }

inline unsigned largest_weight(const LocalHistParams &p) {
  if (p.feature == LocalHistFeature::brightness) return 1;
  return cudavision::largest_weight(p.op, p.weight);
}

// --- sums ---

// The type of the sums over a window. The sums over one column of a window always fit 16 bits (counts) or 32
// bits (weights), because a window is at most 1024 pixels high.
enum class SumKind { counts16, counts32, weights32, weights64 };
inline SumKind sums_of(const LocalHistParams &p) {
  const long long area = static_cast<long long>(p.window.width) * p.window.height;
  if (p.feature == LocalHistFeature::brightness || p.weight == GradientWeight::count)
    return area <= 65535 ? SumKind::counts16 : SumKind::counts32;
  // 31 bits, because every processor has an instruction that converts signed integers of 32 bits to f32.
  return area * largest_weight(p) < 1LL << 31 ? SumKind::weights32 : SumKind::weights64;
}
inline bool is_weighted(SumKind sums) { return sums == SumKind::weights32 || sums == SumKind::weights64; }

// True if a reduction needs the sum of all bins. Zero gradients are not counted, so the sum can be less than
// the area of the window.
inline bool needs_total(const LocalHistParams &p) {
  return p.reduction != LocalHistReduction::none && p.feature == LocalHistFeature::gradient;
}

// --- reductions ---

// The binary logarithm of a share, which is 2^-64 to 1. The error is at most 2e-7 * max(1, |log2 share|). log2f()
// rounds differently on each platform; this series has the same bits everywhere. M. Abramowitz and I. Stegun, "Handbook
// of Mathematical Functions", 1964, equation 4.1.27: ln m = 2 (t + t^3 / 3 + t^5 / 5 + ...) with t = (m - 1) / (m + 1).
CUDAVISION_HOST_DEVICE inline float log2_of_share(float share) {
  constexpr std::int32_t kRootOfHalf = 0x3f3504f3;  // the bits of sqrt(1/2)
  constexpr float kTwoByLn2 = 2.8853900817779268f;
  std::int32_t bits;
  std::memcpy(&bits, &share, sizeof bits);
  const std::int32_t exponent = (bits - kRootOfHalf) >> 23;
  bits -= exponent * (1 << 23);
  float m;  // share = 2^exponent m, and m lies between sqrt(1/2) and sqrt(2)
  std::memcpy(&m, &bits, sizeof m);
  const float t = (m - 1.0f) / (m + 1.0f), t2 = t * t;
  const float series =
      (((kTwoByLn2 / 9 * t2 + kTwoByLn2 / 7) * t2 + kTwoByLn2 / 5) * t2 + kTwoByLn2 / 3) * t2;
  return static_cast<float>(exponent) + (t * kTwoByLn2 + t * series);
}

// The intermediate result of a reduction, which visits the bins of a histogram in ascending order. Sums are
// fixed-point numbers converted to f32.
struct Reduced {
  float value = 0;  // argmax: the largest sum so far; entropy and distance: the partial sum
  int bin = 0;      // argmax: the bin of the largest sum
};

// Adds one bin. total: the sum of all bins. model: only for the distance.
CUDAVISION_HOST_DEVICE inline Reduced reduce_bin(LocalHistReduction reduction, Reduced so_far, int bin,
                                                 float sum, float total, const float *model) {
  if (reduction == LocalHistReduction::argmax) return sum > so_far.value ? Reduced{sum, bin} : so_far;
  const float share = total > 0 ? sum / total : 0.0f;
  if (reduction == LocalHistReduction::distance)
    so_far.value += fabsf(share - model[bin]);
  else if (share > 0)
    so_far.value -= share * log2_of_share(share);
  return so_far;
}

// Turns the intermediate result after the last bin into the final one.
CUDAVISION_HOST_DEVICE inline Reduced finish_reduction(LocalHistReduction reduction, Reduced reduced,
                                                       float total) {
  if (reduction == LocalHistReduction::argmax && total > 0) reduced.value /= total;
  return reduced;
}

}  // namespace cudavision::localhist
