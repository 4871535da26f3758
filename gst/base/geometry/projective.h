// SPDX-License-Identifier: LGPL-2.1-or-later
// Points, quadrilaterals and projective maps of the plane.
#pragma once

#include <array>
#include <cstddef>

namespace cudavision {

// In pixels, fractions of the frame or metres.
struct RealPoint {
  double x = 0, y = 0;

  friend bool operator==(const RealPoint &, const RealPoint &) = default;
};

using Corners = std::array<RealPoint, 4>;

// Whether the corners, in this order, are those of a convex quadrilateral, and no three of them lie nearly on a line.
bool is_quadrilateral(const Corners &corners);

// A matrix for (x, y, 1) or (x, y, z), in rows.
using Matrix = std::array<double, 9>;
using Vector = std::array<double, 3>;

Matrix product(const Matrix &a, const Matrix &b);
Vector mapped(const Matrix &m, const Vector &v);
double determinant(const Matrix &m);
Matrix inverse(const Matrix &m);
// Turns the axis `from` (0: x, 1: y, 2: z) towards the axis `to`.
Matrix rotation(std::size_t from, std::size_t to, double radians);
// Maps the unit square to a quadrilateral. Its third result is 1 at the first corner.
Matrix from_square(const Corners &corners);

}  // namespace cudavision
