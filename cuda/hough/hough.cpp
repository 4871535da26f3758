// SPDX-License-Identifier: LGPL-2.1-or-later
// What both backends of the Hough transform share: checks, the tables of a plan, and the choice of a backend.
#include "cuda/hough/hough.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/hough/hough_rules.h"

namespace cudavision {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr std::size_t kMaxAccumulatorBytes = std::size_t{1} << 31;
constexpr double kGradientTolerance = kPi / 20;  // 9 degrees

// cvRound: half to even.
int round_even(double value) { return static_cast<int>(std::nearbyint(value)); }

}  // namespace

Status validate(const HoughParams &p) {
  // The upper limits are rounded up: pi as a float is more than pi.
  constexpr double kMostTheta = static_cast<float>(kPi);
  CUDAVISION_TRY(check_range("rho", p.rho, 0.01, 1000));
  CUDAVISION_TRY(check_range("theta", p.theta, 1e-4, kMostTheta));
  CUDAVISION_TRY(check_range("min-theta", p.min_theta, 0, kMostTheta));
  CUDAVISION_TRY(check_range("max-theta", p.max_theta, 0, kMostTheta));
  if (p.min_theta > p.max_theta)
    return invalid_argument("min-theta (" + std::to_string(p.min_theta) + ") must not exceed max-theta (" +
                            std::to_string(p.max_theta) + ")");
  CUDAVISION_TRY(check_range("threshold", p.threshold, 0, std::numeric_limits<int>::max()));
  CUDAVISION_TRY(check_range("max-lines", p.max_lines, 1, 1000000));
  CUDAVISION_TRY(check_range("nms-radius", p.nms_radius, 0, 32));
  CUDAVISION_TRY(check_range("min-length", p.min_length, 1, 32768));
  return check_range("max-gap", p.max_gap, 0, 16384);
}

HoughShape hough_shape(Size size, const HoughParams &params) {
  const float rho = static_cast<float>(params.rho), theta = static_cast<float>(params.theta);
  const float distances = static_cast<float>(2 * (size.width + size.height) + 1);
  return {round_even((params.max_theta - params.min_theta) / theta), round_even(distances / rho)};
}

Status check_accumulator(Size size, const HoughParams &params) {
  CUDAVISION_TRY(validate(params));
  hough::Plan plan;
  return catch_bad_alloc([&] { return hough::make_plan(size, params, &plan); });
}

bool hough::same_plan(const HoughParams &a, const HoughParams &b) {
  return a.rho == b.rho && a.theta == b.theta && a.min_theta == b.min_theta && a.max_theta == b.max_theta;
}

Status hough::make_plan(Size size, const HoughParams &params, Plan *plan) {
  const auto [angles, rhos] = hough_shape(size, params);
  const float rho = static_cast<float>(params.rho), theta = static_cast<float>(params.theta);
  const float min_theta = static_cast<float>(params.min_theta), per_rho = 1 / rho;
  const long long cells = (angles + 2ll) * (rhos + 2ll);
  const std::string accumulator =
      "an accumulator of " + std::to_string(angles) + " angles and " + std::to_string(rhos) + " distances";
  if (cells > std::numeric_limits<int>::max())
    return invalid_argument(accumulator + ", " + std::to_string(cells * 4) +
                            " bytes, is too large: rho or theta must be coarser");
  Plan made;
  made.rho_count = rhos;
  made.rho = rho;
  int widest = 0;
  float accumulated = min_theta;  // OpenCV adds up in floats
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
    // Products, sums and rounding are monotonic: the corners have the least and the most.
    int least = std::numeric_limits<int>::max(), most = std::numeric_limits<int>::min();
    for (const int x : {0, size.width - 1})
      for (const int y : {0, size.height - 1}) {
        const int distance =
            distance_bits(static_cast<float>(x), static_cast<float>(y), angle.scaled_cos, angle.scaled_sin) -
            kRoundingBits;
        least = std::min(least, distance), most = std::max(most, distance);
      }
    angle.first = least, angle.count = most - least + 1;
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

std::vector<hough::Stretches> hough::stretches_of(const Plan &plan) {
  const int count = static_cast<int>(plan.angles.size());
  std::vector<Stretches> all(kDirections + 1, Stretches{{0, 0}, {0, 0}});
  for (int d = 0; d < kDirections; ++d) {
    const int octants = d / kTangentSteps, step = d % kTangentSteps;
    // Odd pairs of octants are counted from their end: direction_of().
    const double within =
        std::atan(((octants % 2 == 0 ? step : kTangentSteps - 1 - step) + 0.5) / kTangentSteps);
    const double center = octants % 2 == 0 ? octants * kPi / 4 + within : (octants + 1) * kPi / 4 - within;
    int stretch = -1;
    bool inside = false;
    for (int n = 0; n < count; ++n) {
      double off = std::abs(double{plan.angles[static_cast<std::size_t>(n)].theta} - center);
      off = std::min(off, std::abs(kPi - off));
      const bool votes = off <= kGradientTolerance;
      if (votes && !inside) all[static_cast<std::size_t>(d)].begin[++stretch] = n;
      if (votes) all[static_cast<std::size_t>(d)].end[stretch] = n + 1;
      inside = votes;
    }
  }
  all.back().end[0] = count;
  return all;
}

Status hough::check_run(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma,
                        Size made_for, const HoughParams &params) {
  CUDAVISION_TRY(check_size("edges", edges.size(), made_for));
  if (params.gradient_voting) CUDAVISION_TRY(check_size("luma", luma.size(), made_for));
  return validate(params);
}

Status hough::check_votes(ImageView<std::uint32_t> votes, const Plan *plan) {
  if (plan == nullptr) return invalid_argument("no picture has been worked on yet");
  return check_size("votes", votes.size(), {plan->rho_count, static_cast<int>(plan->angles.size())});
}

Status make_hough(const Execution &execution, Size size, std::unique_ptr<Hough> *hough) {
  return make_on_backend(execution, size, hough, hough::make_hough_cpu,
                         CUDAVISION_IF_CUDA(hough::make_hough_cuda));
}

}  // namespace cudavision
