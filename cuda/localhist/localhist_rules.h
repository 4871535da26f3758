// SPDX-License-Identifier: LGPL-2.1-or-later
// Arithmetic of local histograms that both backends share: bins and weights of pixels, sums, and reductions.
#pragma once

#include <cmath>

#include "cuda/common/host_device.h"
#include "cuda/gradient/samples.h"
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
    so_far.value -= share * log2f(share);
  return so_far;
}

// Called after the last bin.
CUDAVISION_HOST_DEVICE inline Reduced finish_reduction(LocalHistReduction reduction, Reduced reduced,
                                                       float total) {
  if (reduction == LocalHistReduction::argmax && total > 0) reduced.value /= total;
  return reduced;
}

}  // namespace cudavision::localhist
