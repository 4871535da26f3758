// SPDX-License-Identifier: LGPL-2.1-or-later
// The bin of an integer gradient in a histogram of oriented gradients. The result is exact for every gradient.
//
// Bin i of L holds the angles from 360 i / L degrees up to, but not including, 360 (i + 1) / L degrees,
// measured from +x toward +y (Ph. S. Trotski and B. A. Zalesky, "Algorithm of fast computation of local image
// histograms on video card", Informatics 16(1), 2019, equation 1).
//
// Gradients lie exactly on the edge between two bins only at multiples of 45 degrees: no other rational fraction of the
// circle has a rational tangent (Niven's theorem). All other gradients are decided by the sign of the cross product
// with the direction of the edge. Directions have 50 fractional bits, and no gradient with components up to 4080 is
// nearer to an edge than the rounding error of the directions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "cuda/common/host_device.h"
#include "cuda/gradient/gradient.h"

namespace cudavision {

// The directions of the edges of `bins` bins. Small enough to be passed to a kernel by value.
struct OrientationTable {
  int bins = 0;
  float scale = 0;  // the number of bins
  // In widths of a bin: if the angle is nearer than this to the middle of a bin, its approximation decides.
  float safe_distance = 0;
  // sin(90 degrees * k / bins) for k = 0 to bins, in units of 2^-50. All sines and cosines of the circle are mirrored
  // from this quadrant, so that sine and cosine of 45 degrees are equal and those of 0 and 90 degrees are 0 and 1.
  std::int64_t sine[kMaxOrientations + 1] = {};
};

// bins must be in [1, kMaxOrientations].
OrientationTable make_orientation_table(int bins);

// sin(90 degrees * k / bins), in units of 2^-50, for k in [0, 4 * bins).
CUDAVISION_HOST_DEVICE inline std::int64_t sine_of(const OrientationTable &table, int k) {
  const bool negative = k >= 2 * table.bins;
  const int half = negative ? k - 2 * table.bins : k;
  const std::int64_t sine = table.sine[half <= table.bins ? half : 2 * table.bins - half];
  return negative ? -sine : sine;
}

// Returns true if the gradient lies on the edge at 360 * edge / bins degrees, or at most half a turn after
// it. edge: 0 to bins.
CUDAVISION_HOST_DEVICE inline bool is_past_edge(Gradient g, int edge, const OrientationTable &table) {
  const int k = edge < table.bins ? 4 * edge : 0, quarter = k + table.bins;
  const std::int64_t cosine = sine_of(table, quarter < 4 * table.bins ? quarter : quarter - 4 * table.bins);
  // The magnitude of the difference is at most 5770 * 2^50 < 2^63.
  return cosine * g.dy - sine_of(table, k) * g.dx >= 0;
}

// a / b, approximately. b: a normal number, or 0, for which the result is NaN if a is 0 too.
CUDAVISION_HOST_DEVICE inline float approximate_quotient(float a, float b) {
#ifdef __CUDA_ARCH__
  float reciprocal;  // one instruction, with an error of at most 1 in the last place
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(b));
  return a * reciprocal;
#else
  return a / b;
#endif
}

// a * b + c, rounded once or twice.
CUDAVISION_HOST_DEVICE inline float approximate_sum(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return a * b + c;
#endif
}

CUDAVISION_HOST_DEVICE inline int as_int(float value) {
#ifdef __CUDA_ARCH__
  return __float_as_int(value);
#else
  return std::bit_cast<int>(value);
#endif
}

// whole - value if `mirrors` is set, otherwise value. On the CPU the conditional expressions choose between
// constants, so that compilers can vectorise loops that call it.
CUDAVISION_HOST_DEVICE inline float mirrored(bool mirrors, float whole, float value) {
#ifdef __CUDA_ARCH__
  return mirrors ? whole - value : value;
#else
  return (mirrors ? whole : 0.0f) + (mirrors ? -1.0f : 1.0f) * value;
#endif
}

// The approximate angle of a gradient in turns, in [0, 1], or NaN for a zero gradient. The error is at most 2e-6 plus a
// few roundings, which differ between CPU and GPU.
CUDAVISION_HOST_DEVICE inline float approximate_turn(float dx, float dy) {
  const float ax = fabsf(dx), ay = fabsf(dy);
  const float larger = ax > ay ? ax : ay, smaller = ax > ay ? ay : ax;
  const float t = approximate_quotient(smaller, larger), u = t * t;
  // Abramowitz and Stegun, equation 4.4.47: atan(t) for 0 <= t <= 1, with an error of at most 1e-5 rad, in
  // turns: the coefficients are divided by 2 pi. hue_of (cuda/opticalflow/flow_display_rules.h) multiplies
  // the result of the unscaled series instead. Its colours depend on how that rounds, so the two stay apart.
  float series = approximate_sum(u, 0.0033160f, -0.0135493f);
  series = approximate_sum(u, series, 0.0286703f);
  series = approximate_sum(u, series, -0.0525688f);
  const float octant = t * approximate_sum(u, series, 0.1591336f);
  return mirrored(dy < 0, 1.0f, mirrored(dx < 0, 0.5f, mirrored(!(ax > ay), 0.25f, octant)));
}

// exact_bin() decides gradients whose approximate angle is nearer to an edge than this margin, in turns. It is several
// times the error of approximate_turn().
constexpr float kTurnMargin = 1.0f / 65536;

// Returns true if the angle of a nonzero gradient is a multiple of 45 degrees. In natural pictures many are, because
// small gradients often have such angles.
CUDAVISION_HOST_DEVICE inline bool is_multiple_of_45_degrees(Gradient g) {
  return g.dx == 0 || g.dy == 0 || g.dx == g.dy || g.dx == -g.dy;
}

// The bin of a nonzero gradient that lies near edge `edge`, the one at 360 * edge / bins degrees.
CUDAVISION_HOST_DEVICE inline int bin_at_edge(Gradient g, int edge, const OrientationTable &table) {
  const int bin = is_past_edge(g, edge, table) ? edge : edge - 1;
  return bin < 0 ? table.bins - 1 : bin < table.bins ? bin : 0;
}

// The bin that the approximate angle of a gradient gives. For a zero gradient from_middle is NaN.
struct NearBin {
  int bin;
  float from_middle;  // the distance from the bin's middle in widths of a bin: -1/2 to 1/2, but for roundings
};
CUDAVISION_HOST_DEVICE inline NearBin approximate_bin(Gradient g, const OrientationTable &table) {
  const float turn = approximate_turn(static_cast<float>(g.dx), static_cast<float>(g.dy));
  // The angle in widths of a bin, minus 1/2: rounded to an integer, it is the bin. It is rounded by adding 1.5 * 2^23,
  // because the last bit of a float of this size is worth 1. Conversions to int and back would be slower.
  constexpr float kRound = 12582912.0f;
  const float position = approximate_sum(turn, table.scale, -0.5f);
  const float rounded = position + kRound;
  return {as_int(rounded) - as_int(kRound), position - (rounded - kRound)};
}
// Returns true if the bin is right: the gradient is not zero, and its angle is not near an edge.
CUDAVISION_HOST_DEVICE inline bool is_certain(NearBin near, const OrientationTable &table) {
  return fabsf(near.from_middle) < table.safe_distance;
}
// The bin of a nonzero gradient whose approximate bin is not certain.
CUDAVISION_HOST_DEVICE inline int exact_bin(Gradient g, NearBin near, const OrientationTable &table) {
  const int edge = near.from_middle > 0 ? near.bin + 1 : near.bin;
  // A multiple of 45 degrees is near an edge only if it lies on it: otherwise it is at least 1/8 of a bin away.
  return is_multiple_of_45_degrees(g) ? edge : bin_at_edge(g, edge, table);
}

// The bin of a nonzero gradient. |dx| and |dy| must be at most 4080.
CUDAVISION_HOST_DEVICE inline int orientation_bin(Gradient g, const OrientationTable &table) {
  const NearBin near = approximate_bin(g, table);
  return is_certain(near, table) ? near.bin : exact_bin(g, near, table);
}

}  // namespace cudavision
