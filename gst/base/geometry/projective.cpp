// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/geometry/projective.h"

#include <cmath>

namespace cudavision {

bool is_quadrilateral(const Corners &corners) {
  int to_the_right = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const RealPoint a = corners[i], b = corners[(i + 1) % 4], c = corners[(i + 2) % 4];
    const double turn = (b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x);
    // The sine of the angle at b.
    if (!(std::abs(turn) > 0.001 * std::hypot(b.x - a.x, b.y - a.y) * std::hypot(c.x - b.x, c.y - b.y)))
      return false;
    to_the_right += turn > 0;
  }
  return to_the_right % 4 == 0;
}

Matrix product(const Matrix &a, const Matrix &b) {
  Matrix result{};
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column)
      for (std::size_t k = 0; k < 3; ++k) result[3 * row + column] += a[3 * row + k] * b[3 * k + column];
  return result;
}

Vector mapped(const Matrix &m, const Vector &v) {
  const auto row = [&](std::size_t i) { return m[i] * v[0] + m[i + 1] * v[1] + m[i + 2] * v[2]; };
  return {row(0), row(3), row(6)};
}

double determinant(const Matrix &m) {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) + m[1] * (m[5] * m[6] - m[3] * m[8]) +
         m[2] * (m[3] * m[7] - m[4] * m[6]);
}

Matrix inverse(const Matrix &m) {
  Matrix result{m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
  const double factor = 1 / determinant(m);
  for (double &value : result) value *= factor;
  return result;
}

Matrix rotation(std::size_t from, std::size_t to, double radians) {
  Matrix result{1, 0, 0, 0, 1, 0, 0, 0, 1};
  result[4 * from] = result[4 * to] = std::cos(radians);
  result[3 * to + from] = std::sin(radians);
  result[3 * from + to] = -std::sin(radians);
  return result;
}

// P. S. Heckbert, "Fundamentals of Texture Mapping and Image Warping", master's thesis, University of California,
// Berkeley, 1989.
Matrix from_square(const Corners &c) {
  const double sx = c[0].x - c[1].x + c[2].x - c[3].x, sy = c[0].y - c[1].y + c[2].y - c[3].y;
  const double x1 = c[1].x - c[2].x, x2 = c[3].x - c[2].x, y1 = c[1].y - c[2].y, y2 = c[3].y - c[2].y;
  const double area = x1 * y2 - x2 * y1, g = (sx * y2 - x2 * sy) / area, h = (x1 * sy - sx * y1) / area;
  return {c[1].x - c[0].x + g * c[1].x,
          c[3].x - c[0].x + h * c[3].x,
          c[0].x,
          c[1].y - c[0].y + g * c[1].y,
          c[3].y - c[0].y + h * c[3].y,
          c[0].y,
          g,
          h,
          1};
}

}  // namespace cudavision
