// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares gradients with their masks, and orientation bins with angles of higher precision, at every edge of a bin.
#include "cuda/gradient/gradient_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "cuda/gradient/gradient_cpu.h"
#include "cuda/gradient/orientation_rules.h"
#include "tests/kernels/gradient_definition.h"
#include "tests/support/emulated.h"
#include "tests/support/pictures.h"

namespace {

using namespace cudavision::test;
using cudavision::clamp_index;
using cudavision::Gradient;
using cudavision::gradient_of;
using cudavision::GradientOperator;
using cudavision::GradientRow;
using cudavision::ImageView;
using cudavision::largest_component;
using cudavision::make_orientation_table;
using cudavision::orientation_bin;
using cudavision::OrientationTable;
using cudavision::Size;

constexpr int kMostComponent = 4080;  // the largest component of all operators: scharr

Gradient gradient_at(const Picture &picture, int x, int y, GradientOperator op) {
  return gradient_of(op, [&](int i, int j) {
    return int{picture.at(clamp_index(x + i, picture.width()), clamp_index(y + j, picture.height()))};
  });
}

// --- gradients ---

TEST(GradientOf, every_operator_and_size_equals_its_mask) {
  unsigned seed = 1;
  for (const Size size : {Size{1, 1}, {1, 9}, {9, 1}, {2, 2}, {17, 13}, {64, 33}})
    for (const GradientOperator op : kOperators) {
      const Picture picture = noise(size, seed++);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          ASSERT_EQ(gradient_at(picture, x, y, op), defined_gradient(picture, x, y, op))
              << x << "," << y << " operator " << static_cast<int>(op) << " seed " << seed - 1;
    }
}

TEST(GradientOf, points_toward_the_brighter_side_of_a_ramp) {
  for (const GradientOperator op : kOperators)
    for (const auto &[x, y] :
         {std::pair{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 2}, {-3, 1}, {2, -1}, {-1, -1}}) {
      Picture picture({7, 7});
      for (int j = 0; j < 7; ++j)
        for (int i = 0; i < 7; ++i)
          picture.at(i, j) = static_cast<std::uint8_t>(128 + x * (i - 3) + y * (j - 3));
      const Gradient g = gradient_at(picture, 3, 3, op);
      EXPECT_EQ(g.dx * y, g.dy * x) << static_cast<int>(op);
      EXPECT_GT(g.dx * x + g.dy * y, 0) << static_cast<int>(op);
    }
}

TEST(GradientOf, largest_component_is_reached_and_not_exceeded) {
  for (const GradientOperator op : kOperators) {
    const Gradient g =
        gradient_at(half_plane({5, 5}, op == GradientOperator::roberts ? 3 : 2, 2, 1, 0, 0, 255), 2, 2, op);
    const Gradient central = gradient_at(half_plane({5, 5}, 3, 2, 1, 0, 0, 255), 2, 2, op);
    EXPECT_EQ(std::max(g.dx, central.dx), largest_component(op));
    EXPECT_LE(largest_component(op), kMostComponent);
    const Picture picture = checkerboard({40, 40}, 1, 0, 255), random = noise({40, 40}, 3);
    for (const Picture *p : {&picture, &random})
      for (int y = 0; y < 40; ++y)
        for (int x = 0; x < 40; ++x) {
          const Gradient h = gradient_at(*p, x, y, op);
          ASSERT_LE(std::max(std::abs(h.dx), std::abs(h.dy)), largest_component(op));
        }
  }
}

TEST(GradientRows, equal_gradients_and_bins_of_single_pixels) {
  unsigned seed = 30;
  for (const Size size : {Size{1, 1}, {1, 5}, {2, 3}, {31, 4}, {257, 3}})
    for (const GradientOperator op : kOperators) {
      Picture picture = noise(size, seed++);
      for (std::size_t i = 0; i < picture.pixels().size(); i += 3)
        picture.pixels()[i] = 77;  // makes some gradients zero
      GradientRow row(size.width);
      for (const int bins : {1, 7, 8, 360}) {
        const OrientationTable table = make_orientation_table(bins);
        for (int y = 0; y < size.height; ++y) {
          row.compute({picture.row(0), size.width, size.width, size.height}, y, op);
          row.compute_bins(table);
          for (int x = 0; x < size.width; ++x) {
            const Gradient g = gradient_at(picture, x, y, op);
            ASSERT_EQ((Gradient{row.dx()[x], row.dy()[x]}), g);
            const int bin = g == Gradient{} ? GradientRow::kNoOrientation : orientation_bin(g, table);
            ASSERT_EQ(row.bin()[x], bin) << g.dx << "," << g.dy << " of " << bins;
          }
        }
      }
    }
}

// --- orientations ---

TEST(OrientationBins, multiples_of_45_degrees_begin_a_bin) {
  constexpr int kX[] = {1, 1, 0, -1, -1, -1, 0, 1}, kY[] = {0, 1, 1, 1, 0, -1, -1, -1};
  for (int bins = 1; bins <= 360; ++bins) {
    const OrientationTable table = make_orientation_table(bins);
    for (int eighth = 0; eighth < 8; ++eighth)
      for (const int length : {1, 2, 3, 255, 1020, 4079, 4080})
        ASSERT_EQ(orientation_bin({kX[eighth] * length, kY[eighth] * length}, table), eighth * bins / 8)
            << eighth * 45 << " degrees, " << bins << " bins, length " << length;
  }
}

TEST(OrientationBins, every_small_gradient_is_exact) {
  const int reach = kEmulated ? 40 : 200;
  for (const int bins : {1, 2, 3, 4, 5, 8, 9, 12, 36, 72, 90, 359, 360}) {
    const OrientationTable table = make_orientation_table(bins);
    for (int dy = -reach; dy <= reach; ++dy)
      for (int dx = -reach; dx <= reach; ++dx)
        if (dx != 0 || dy != 0) {
          ASSERT_EQ(orientation_bin({dx, dy}, table), defined_bin(dx, dy, bins))
              << dx << "," << dy << " of " << bins << " bins";
        }
  }
}

// For every length of the larger component, the gradients nearest to an edge of a bin, on both sides of the edge.
TEST(OrientationBins, gradients_nearest_to_an_edge_are_exact) {
  for (const int bins : {3, 5, 7, 9, 16, 30, 72, 90, 179, 359, 360}) {
    const OrientationTable table = make_orientation_table(bins);
    for (int edge = 0; edge < bins; ++edge) {
      const long double angle = 2 * std::numbers::pi_v<long double> * edge / bins;
      const long double cosine = std::cos(angle), sine = std::sin(angle);
      const bool flat = std::fabs(cosine) > std::fabs(sine);
      for (int length = kEmulated ? 3967 : 1; length <= kMostComponent; ++length) {
        const int major = (flat ? cosine : sine) > 0 ? length : -length;
        const int minor = static_cast<int>(std::floor(major * (flat ? sine / cosine : cosine / sine)));
        for (const int grazing : {minor, minor + 1}) {
          const int dx = flat ? major : grazing, dy = flat ? grazing : major;
          ASSERT_EQ(orientation_bin({dx, dy}, table), defined_bin(dx, dy, bins))
              << dx << "," << dy << " at edge " << edge << " of " << bins;
        }
      }
    }
  }
}

// The assumption of is_past_edge(): the cross product of an edge's direction and a gradient that does not lie
// on the edge is larger than the rounding error of the direction can make it, 2 * 4080 * 2^-51.
TEST(OrientationBins, no_gradient_is_nearer_to_an_edge_than_the_rounding_error) {
  constexpr long double kError = 2.0L * kMostComponent / (1LL << 51);
  const std::vector<int> all_bins =
      kEmulated ? std::vector<int>{360} : std::vector<int>{7, 90, 353, 359, 360};
  for (const int bins : all_bins)
    for (int edge = 1; edge <= bins / 8; ++edge) {  // the other octants are mirror images
      if (8 * edge == bins) continue;
      const long double angle = 2 * std::numbers::pi_v<long double> * edge / bins;
      const long double cosine = std::cos(angle), sine = std::sin(angle), slope = sine / cosine;
      for (int dx = 1; dx <= kMostComponent; ++dx) {
        const long double dy = std::round(dx * slope);
        ASSERT_GT(std::fabs(cosine * dy - sine * dx), 100 * kError) << dx << "," << dy << " of " << bins;
      }
    }
}

TEST(OrientationBins, approximate_angle_errs_by_less_than_half_the_margin) {
  for (int dy = -200; dy <= 200; ++dy)
    for (int dx = -200; dx <= 200; ++dx) {
      if (dx == 0 && dy == 0) continue;
      const double turn = std::atan2(dy, dx) / (2 * std::numbers::pi);
      const float approximate = cudavision::approximate_turn(static_cast<float>(dx), static_cast<float>(dy));
      double error = std::fabs(approximate - (turn < 0 ? turn + 1 : turn));
      error = std::min(error, 1 - error);
      ASSERT_LT(error, cudavision::kTurnMargin / 2) << dx << "," << dy;
    }
}

}  // namespace
