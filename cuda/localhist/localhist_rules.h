// SPDX-License-Identifier: LGPL-2.1-or-later
// What both backends of local histograms share: bins and weights of pixels, sums, and reductions.
#pragma once

#include <cmath>

#include "cuda/common/host_device.h"
#include "cuda/gradient/samples.h"
#include "cuda/localhist/localhist.h"

namespace cudavision::localhist {

// --- pixels ---

using Sample = GradientSample;

CUDAVISION_HOST_DEVICE constexpr int brightness_bin(int value, int bins) { return value * bins >> 8; }

inline unsigned largest_weight(const LocalHistogramParams &p) {
  if (p.feature == LocalFeature::brightness) return 1;
  return cudavision::largest_weight(p.op, p.weight);
}

// --- sums ---

// What the sums of a window need. A column of one has 16 bits for counts and 32 for weights in any case: it
// is at most 1024 pixels high.
enum class SumKind { counts16, counts32, weights32, weights64 };
inline SumKind sums_of(const LocalHistogramParams &p) {
  const long long area = static_cast<long long>(p.window.width) * p.window.height;
  if (p.feature == LocalFeature::brightness || p.weight == GradientWeight::count)
    return area <= 65535 ? SumKind::counts16 : SumKind::counts32;
  // 31 bits: signed conversion to f32 is the one that every processor has.
  return area * largest_weight(p) < 1LL << 31 ? SumKind::weights32 : SumKind::weights64;
}
inline bool is_weighted(SumKind sums) { return sums == SumKind::weights32 || sums == SumKind::weights64; }

// Gradients that are zero are not counted, so that a reduction needs the sum of all bins too.
inline bool needs_total(const LocalHistogramParams &p) {
  return p.reduction != LocalReduction::none && p.feature == LocalFeature::gradient;
}

// --- reductions of a histogram in ascending order of its bins ---

// What is known when the bins so far were seen; sums are numbers in fixed point, as f32.
struct Reduced {
  float value = 0;  // argmax: the most of a bin; entropy and distance: the sum so far
  int bin = 0;      // argmax: the bin of it
};

CUDAVISION_HOST_DEVICE inline Reduced reduce_bin(LocalReduction reduction, Reduced so_far, int bin, float sum,
                                                 float total, const float *model) {
  if (reduction == LocalReduction::argmax) return sum > so_far.value ? Reduced{sum, bin} : so_far;
  const float share = total > 0 ? sum / total : 0.0f;
  if (reduction == LocalReduction::distance)
    so_far.value += fabsf(share - model[bin]);
  else if (share > 0)
    so_far.value -= share * log2f(share);
  return so_far;
}

// After the last bin.
CUDAVISION_HOST_DEVICE inline Reduced finish_reduction(LocalReduction reduction, Reduced reduced,
                                                       float total) {
  if (reduction == LocalReduction::argmax && total > 0) reduced.value /= total;
  return reduced;
}

// What both implementations refuse: outputs that the reduction needs and has not.
Status check_run(Size luma, Size made_for, const LocalHistogramParams &params,
                 const LocalHistogramOutput &output, const float *model);
// What take_model refuses.
Status check_region(Size luma, Size made_for, Region region);

std::size_t scratch_bytes_cpu(int threads, Size size, const LocalHistogramParams &params);
Status make_local_histogram_cpu(const Execution &execution, Size size, const LocalHistogramParams &params,
                                std::unique_ptr<LocalHistogram> *room);
Status make_local_histogram_cuda(const Execution &execution, Size size, const LocalHistogramParams &params,
                                 std::unique_ptr<LocalHistogram> *room);

}  // namespace cudavision::localhist
