// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/hough/accumulator_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace cudavision::hough {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr std::size_t kMaxAccumulatorBytes = std::size_t{1} << 31;
constexpr double kGradientTolerance = kPi / 20;  // 9 degrees

// Sets angle->first and angle->count: the range of the distances of all pixels. The four corners of the image have the
// smallest and the largest distance, because products, sums and rounding are monotonic.
void set_distances(Size size, Angle *angle) {
  int least = std::numeric_limits<int>::max(), most = std::numeric_limits<int>::min();
  for (const int x : {0, size.width - 1})
    for (const int y : {0, size.height - 1}) {
      const int distance =
          distance_bits(static_cast<float>(x), static_cast<float>(y), angle->scaled_cos, angle->scaled_sin) -
          kRoundingBits;
      least = std::min(least, distance), most = std::max(most, distance);
    }
  angle->first = least, angle->count = most - least + 1;
}

// The number of directions that these parameters give if theta covers the whole range, from 0 to pi.
int directions_of_half_turn(Size size, HoughParams params) {
  params.min_theta = 0, params.max_theta = kPi;
  return hough_shape(size, params).angles;
}

// The middle of the gradient directions that direction_of() maps to `direction`, in radians. In odd pairs of octants,
// tangents are measured from the end of the octant.
double center_of_direction(int direction) {
  const int octants = direction / kTangentSteps, step = direction % kTangentSteps;
  const double within =
      std::atan(((octants % 2 == 0 ? step : kTangentSteps - 1 - step) + 0.5) / kTangentSteps);
  return octants % 2 == 0 ? octants * kPi / 4 + within : (octants + 1) * kPi / 4 - within;
}

}  // namespace

Status make_accumulator_plan(Size size, const HoughParams &params, AccumulatorPlan *plan) {
  const auto [angles, rhos] = hough_shape(size, params);
  const float rho = static_cast<float>(params.rho), theta = static_cast<float>(params.theta);
  const float min_theta = static_cast<float>(params.min_theta), per_rho = 1 / rho;
  const long long cells = (angles + 2ll) * (rhos + 2ll);
  const std::string accumulator =
      "an accumulator of " + std::to_string(angles) + " angles and " + std::to_string(rhos) + " distances";
  if (cells > std::numeric_limits<int>::max())
    return invalid_argument(accumulator + ", " + std::to_string(cells * 4) +
                            " bytes, is too large: rho or theta must be coarser");
  AccumulatorPlan made;
  made.rho_count = rhos;
  made.rho = rho;
  made.covers_half_turn = angles == directions_of_half_turn(size, params);
  int widest = 0;
  float accumulated = min_theta;  // OpenCV adds up the angles in floats, too
  for (int n = 0; n < angles; ++n, accumulated += theta) {
    Angle angle{};
    angle.scaled_cos = static_cast<float>(std::cos(double{accumulated}) * per_rho);
    angle.scaled_sin = static_cast<float>(std::sin(double{accumulated}) * per_rho);
    angle.theta = min_theta + static_cast<float>(n) * theta;
    angle.cos = static_cast<float>(std::cos(double{angle.theta}));
    angle.sin = static_cast<float>(std::sin(double{angle.theta}));
    angle.flat = std::abs(angle.sin) >= std::abs(angle.cos);
    angle.per_step = 1.0 / (angle.flat ? angle.sin : angle.cos);
    angle.slope = static_cast<int>(to_fraction(-(angle.flat ? angle.cos : angle.sin) * angle.per_step));
    set_distances(size, &angle);
    widest = std::max(widest, angle.count);
    made.angles.push_back(angle);
  }
  made.stride = divide_up(std::max(widest, 1), 4) * 4;
  if (made.cells() > kMaxAccumulatorBytes / 4)
    return invalid_argument(accumulator + ", " + std::to_string(made.cells() * 4) +
                            " bytes, is larger than " + std::to_string(kMaxAccumulatorBytes) +
                            ": rho or theta must be coarser");
  *plan = std::move(made);
  return {};
}

std::vector<AngleIntervals> gradient_intervals_of(const AccumulatorPlan &plan) {
  const int count = static_cast<int>(plan.angles.size());
  std::vector<AngleIntervals> all(kDirections + 1, AngleIntervals{{0, 0}, {0, 0}});
  for (int direction = 0; direction < kDirections; ++direction) {
    AngleIntervals &intervals = all[static_cast<std::size_t>(direction)];
    const double center = center_of_direction(direction);
    int interval = -1;
    bool inside = false;
    for (int n = 0; n < count; ++n) {
      const double off = std::remainder(double{plan.angles[static_cast<std::size_t>(n)].theta} - center, kPi);
      const bool votes = std::abs(off) <= kGradientTolerance;
      if (votes && !inside) intervals.begin[++interval] = n;
      if (votes) intervals.end[interval] = n + 1;
      inside = votes;
    }
  }
  all.back().end[0] = count;
  return all;
}

bool same_plan(const HoughParams &a, const HoughParams &b) {
  return a.rho == b.rho && a.theta == b.theta && a.min_theta == b.min_theta && a.max_theta == b.max_theta;
}

Accumulator accumulator_of(const AccumulatorPlan &plan, Size size, const Angle *angles,
                           std::uint32_t *votes) {
  return {.angles = angles,
          .votes = votes,
          .angle_count = static_cast<int>(plan.angles.size()),
          .rho_count = plan.rho_count,
          .stride = plan.stride,
          .covers_half_turn = plan.covers_half_turn,
          .rho = plan.rho,
          .width = size.width,
          .height = size.height};
}

}  // namespace cudavision::hough
