// SPDX-License-Identifier: LGPL-2.1-or-later
// Which bin of a histogram of oriented gradients an integer gradient belongs to: exactly, for every gradient.
//
// Bin i of L holds the angles from 360 i / L degrees up to, but not including, 360 (i + 1) / L, measured from
// +x toward +y ("Fast computation of local image histograms", equation 1: half-open). An angle with a
// rational tangent that is a rational part of the circle is a multiple of 45 degrees (Niven), so that ties
// are there alone, and the sign of a cross product with the edge's direction decides everything else: the
// directions have 50 binary places, and no gradient of components up to 4080 comes nearer to an edge than
// their error.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/common/host_device.h"
#include "cuda/gradient/gradient.h"

namespace cudavision {

constexpr int kMaxOrientations = 360;

// Directions of the edges of `bins` bins, by value: small enough for a kernel's argument.
struct OrientationTable {
  int bins = 0;
  // sin(90 degrees k / bins) for k = 0 to bins, in units of 2^-50: a quarter of a circle holds all edges,
  // mirrored, so that sine and cosine of 45 degrees are one number and those of 0 and 90 are 0 and 1.
  std::int64_t sine[kMaxOrientations + 1] = {};
};

// bins: 1 to kMaxOrientations.
OrientationTable make_orientation_table(int bins);

// sin(90 degrees k / bins) for k = 0 to 4 bins - 1.
CUDAVISION_HOST_DEVICE inline std::int64_t sine_of(const OrientationTable &table, int k) {
  const int quadrant = k / table.bins, rest = k - quadrant * table.bins;
  const std::int64_t sine = table.sine[quadrant % 2 == 0 ? rest : table.bins - rest];
  return quadrant < 2 ? sine : -sine;
}

// Whether the gradient lies less than half a turn after the edge at 360 edge / bins degrees, or on it.
CUDAVISION_HOST_DEVICE inline bool is_past_edge(Gradient g, int edge, const OrientationTable &table) {
  const int k = 4 * (edge % table.bins), quarter = k + table.bins;
  const std::int64_t cosine = sine_of(table, quarter < 4 * table.bins ? quarter : quarter - 4 * table.bins);
  // At most 5770 * 2^50 < 2^63.
  return cosine * g.dy - sine_of(table, k) * g.dx >= 0;
}

// The angle in turns, 0 to 1 inclusive, to 2e-6 and a few roundings; 0 of a gradient that is zero. Both sides
// of each choice are constants, so that compilers vectorise it.
CUDAVISION_HOST_DEVICE inline float approximate_turn(float dx, float dy) {
  const float ax = fabsf(dx), ay = fabsf(dy);
  const float larger = ax > ay ? ax : ay, smaller = ax > ay ? ay : ax;
  const float t = smaller / (larger > 0 ? larger : 1.0f), u = t * t;
  // Abramowitz and Stegun, 4.4.47: atan(t) for 0 <= t <= 1 to 1e-5 rad, divided by 2 pi.
  const float octant =
      t * (0.1591336f + u * (-0.0525688f + u * (0.0286703f + u * (-0.0135493f + u * 0.0033160f))));
  const float quadrant = (ax > ay ? 0.0f : 0.25f) + (ax > ay ? 1.0f : -1.0f) * octant;
  const float half = (dx < 0 ? 0.5f : 0.0f) + (dx < 0 ? -1.0f : 1.0f) * quadrant;
  const float turn = (dy < 0 ? 1.0f : 0.0f) + (dy < 0 ? -1.0f : 1.0f) * half;
  return larger > 0 ? turn : 0.0f;
}

// Positions in bins nearer to an edge than this are decided by is_past_edge: many times the error of 360 bins
// by approximate_turn.
constexpr float kEdgeMargin = 1.0f / 128;

// The bin of a gradient that is not zero and lies near the edge.
CUDAVISION_HOST_DEVICE inline int bin_at_edge(Gradient g, int edge, const OrientationTable &table) {
  const int bin = is_past_edge(g, edge, table) ? edge : edge - 1;
  return bin < 0 ? table.bins - 1 : bin < table.bins ? bin : 0;
}

// The bin of a gradient that is not zero; |dx| and |dy| at most 4080.
CUDAVISION_HOST_DEVICE inline int orientation_bin(Gradient g, const OrientationTable &table) {
  const float position =
      approximate_turn(static_cast<float>(g.dx), static_cast<float>(g.dy)) * static_cast<float>(table.bins);
  const int edge = static_cast<int>(position + 0.5f);  // the nearest
  const float distance = position - static_cast<float>(edge);
  if (distance < kEdgeMargin && distance > -kEdgeMargin) return bin_at_edge(g, edge, table);
  return static_cast<int>(position);
}

}  // namespace cudavision
