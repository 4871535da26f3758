// SPDX-License-Identifier: LGPL-2.1-or-later
// The contribution of a gradient to a histogram of orientations: a bin and a weight in fixed point. Both
// backends compute the same values.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "cuda/common/host_device.h"
#include "cuda/gradient/gradient.h"
#include "cuda/gradient/orientation_rules.h"

namespace cudavision {

// The fixed-point number that stands for a weight of 1.
constexpr int weight_scale(GradientWeight weight) {
  return weight == GradientWeight::count ? 1 : weight == GradientWeight::magnitude ? 16 : 512;
}
// The weight of g in units of 1 / weight_scale(weight). Every operation is rounded by IEEE 754, so that both
// backends agree. The roundings before the last one change the value by less than 1/100.
CUDAVISION_HOST_DEVICE inline unsigned fixed_weight(Gradient g, GradientWeight weight) {
  if (weight == GradientWeight::count) return 1;
  const float magnitude = sqrtf(static_cast<float>(g.dx * g.dx + g.dy * g.dy));
  const float scaled = weight == GradientWeight::magnitude ? 16.0f * magnitude : 512.0f * sqrtf(magnitude);
  return static_cast<unsigned>(scaled + 0.5f);
}
// The largest possible fixed_weight() for 8-bit pictures.
inline unsigned largest_weight(GradientOperator op, GradientWeight weight) {
  const int component = largest_component(op);
  return fixed_weight({component, component}, weight);
}

// The bin of a sample that adds to no bin, because its gradient is zero. It is the largest bin that WeightMap can hold.
constexpr int kNoBin = 511;
static_assert(kNoBin >= kMaxOrientations);
// The contribution of one pixel. Its weight is 0 if its bin is kNoBin.
struct GradientSample {
  int bin = kNoBin;
  unsigned weight = 0;

  friend bool operator==(const GradientSample &, const GradientSample &) = default;
};

CUDAVISION_HOST_DEVICE inline GradientSample sample_of(Gradient g, GradientWeight weight,
                                                       const OrientationTable &table) {
  if (g == Gradient{}) return {};
  return {orientation_bin(g, table), fixed_weight(g, weight)};
}

// A GradientSample packed into an integer, one for each pixel. A BinMap holds the bin only, for GradientWeight::count.
// A WeightMap holds the bin in its low 9 bits and the weight above them.
using BinMap = std::uint16_t;
using WeightMap = std::uint32_t;
template <typename Map>
CUDAVISION_HOST_DEVICE constexpr Map pack(GradientSample sample) {
  if constexpr (std::is_same_v<Map, BinMap>)
    return static_cast<Map>(sample.bin);
  else
    return sample.weight << 9 | static_cast<unsigned>(sample.bin);
}
CUDAVISION_HOST_DEVICE constexpr GradientSample unpack(BinMap packed) {
  return {packed, packed == kNoBin ? 0u : 1u};
}
CUDAVISION_HOST_DEVICE constexpr GradientSample unpack(WeightMap packed) {
  return {static_cast<int>(packed & 511u), packed >> 9};
}

}  // namespace cudavision
