// SPDX-License-Identifier: LGPL-2.1-or-later
// What a gradient adds to a histogram of orientations: a weight in fixed point to a bin, the same on both
// backends.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "cuda/common/host_device.h"
#include "cuda/gradient/gradient.h"
#include "cuda/gradient/orientation.h"

namespace cudavision {

// What a gradient g adds to its bin.
enum class GradientWeight {
  count,           // 1
  magnitude,       // |g|, in fixed point round(16 |g|)
  sqrt_magnitude,  // sqrt(|g|), in fixed point round(512 sqrt(|g|))
};

// In units of 1 / weight_scale. Every operation is rounded as IEEE 754 has it, so that both backends agree;
// the roundings before the last one move the result by less than 1/100.
constexpr int weight_scale(GradientWeight weight) {
  return weight == GradientWeight::count ? 1 : weight == GradientWeight::magnitude ? 16 : 512;
}
CUDAVISION_HOST_DEVICE inline unsigned fixed_weight(Gradient g, GradientWeight weight) {
  if (weight == GradientWeight::count) return 1;
  const float magnitude = sqrtf(static_cast<float>(g.dx * g.dx + g.dy * g.dy));
  const float scaled = weight == GradientWeight::magnitude ? 16.0f * magnitude : 512.0f * sqrtf(magnitude);
  return static_cast<unsigned>(scaled + 0.5f);
}
inline unsigned largest_weight(GradientOperator op, GradientWeight weight) {
  const int component = largest_component(op);
  return fixed_weight({component, component}, weight);
}

// What a pixel adds: weight to a bin. kNoBin, and no weight, where the gradient is zero.
constexpr int kNoBin = 511;
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

// Samples of a whole picture: the bin alone where each counts 1, or both in a word.
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
