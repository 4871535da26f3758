// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of the Hough transform that both backends share, so that each rule stands in one place.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "cuda/common/host_device.h"
#include "cuda/hough/hough.h"

namespace cudavision::hough {

using Key = unsigned long long;

// One direction of the accumulator.
struct Angle {
  float scaled_cos, scaled_sin;  // over rho, of the angle as cv::HoughLines accumulates it, in floats
  int first, count;              // the distances that pixels of the picture can have: [first, first + count)
  float theta, cos, sin;         // as it is reported
  // For walks along the axis that lines of this direction are flat against (walk_rules.h): 1 over sin where
  // they are level, 1 over cos where they are upright; and by how much they move across in a step, in
  // 2^-kFractionBits pixels.
  double per_step;
  int slope;
  bool flat;  // level
};

constexpr int kFractionBits = 20;

CUDAVISION_HOST_DEVICE inline long long to_fraction(double value) {  // rounded half up
  const double scaled = value * (1 << kFractionBits) + 0.5;
  const long long truncated = static_cast<long long>(scaled);
  return truncated - (static_cast<double>(truncated) > scaled ? 1 : 0);
}

// 1.5 * 2^23: a float added to it loses its fraction by rounding half to even, and what is left are the low
// bits.
constexpr float kRoundingFloat = 12582912.0f;
constexpr int kRoundingBits = 0x4B400000;

// The bits of kRoundingFloat plus the distance of pixel (x, y), in steps of rho: as cvRound does it, after a
// rounding of the product and one of the sum. Distances stay below 2^22: see validate().
CUDAVISION_HOST_DEVICE inline int distance_bits(float x, float y, float scaled_cos, float scaled_sin) {
  const float rounded = (x * scaled_cos + y * scaled_sin) + kRoundingFloat;
  int bits;
  memcpy(&bits, &rounded, sizeof bits);
  return bits;
}

// The accumulator: a row of votes for each direction, of which [0, angle.count) are used and the rest is 0.
struct Space {
  const Angle *angles;
  std::uint32_t *votes;
  int angle_count, rho_count;
  int stride;  // of votes, a multiple of 4
  float rho;
  int width, height;  // of the picture

  CUDAVISION_HOST_DEVICE std::ptrdiff_t row(int n) const { return static_cast<std::ptrdiff_t>(n) * stride; }
  // Distance 0 is in the middle of OpenCV's row of rho_count. Coarse distances of the picture's corners may
  // be -1 or rho_count, in the frame around OpenCV's accumulator: their votes count there too, but are no
  // peaks.
  CUDAVISION_HOST_DEVICE int index_of(int distance) const { return distance + (rho_count - 1) / 2; }
};

// The order of lines: more votes first, then OpenCV's linear index. Ascending keys are in that order.
CUDAVISION_HOST_DEVICE inline Key key_of(const Space &space, int n, int distance, std::uint32_t votes) {
  const unsigned index = static_cast<unsigned>(n + 1) * static_cast<unsigned>(space.rho_count + 2) +
                         static_cast<unsigned>(space.index_of(distance) + 1);
  return Key{~votes} << 32 | index;
}

struct Peak {
  int n, distance;
  std::uint32_t votes;
  float rho;
};
CUDAVISION_HOST_DEVICE inline Peak peak_of(const Space &space, Key key) {
  const unsigned index = static_cast<unsigned>(key), columns = static_cast<unsigned>(space.rho_count + 2);
  const int r = static_cast<int>(index % columns) - 1;
  return {static_cast<int>(index / columns) - 1, r - (space.rho_count - 1) / 2,
          ~static_cast<unsigned>(key >> 32),
          (static_cast<float>(r) - static_cast<float>(space.rho_count - 1) * 0.5f) * space.rho};
}

// The votes of direction n and distance d, 0 outside the accumulator. load(offset) reads one of space.votes.
template <typename Load>
CUDAVISION_HOST_DEVICE std::uint32_t votes_at(const Space &space, int n, int d, const Load &load) {
  if (n < 0 || n >= space.angle_count) return 0;
  const int i = d - space.angles[n].first;
  return i < 0 || i >= space.angles[n].count ? 0 : load(space.row(n) + i);
}

// Whether `votes` at direction n and distance d, more than the threshold, are a maximum: OpenCV's ties, and
// no cell before it in the order of lines within the radius.
template <typename Load>
CUDAVISION_HOST_DEVICE bool is_peak(const Space &space, int n, int d, std::uint32_t votes, int nms_radius,
                                    const Load &load) {
  if (space.index_of(d) < 0 || space.index_of(d) >= space.rho_count) return false;
  if (votes <= votes_at(space, n, d - 1, load) || votes < votes_at(space, n, d + 1, load) ||
      votes <= votes_at(space, n - 1, d, load) || votes < votes_at(space, n + 1, d, load))
    return false;
  for (int dn = -nms_radius; dn <= nms_radius; ++dn)
    for (int dd = -nms_radius; dd <= nms_radius; ++dd) {
      const bool before = dn < 0 || (dn == 0 && dd < 0), self = dn == 0 && dd == 0;
      const std::uint32_t other = votes_at(space, n + dn, d + dd, load);
      if (!self && (other > votes || (before && other == votes))) return false;
    }
  return true;
}

struct Point {
  float x, y;
};

CUDAVISION_HOST_DEVICE constexpr float clamp_to(float value, float last) {  // and -0 becomes 0
  return value > 0 ? (value < last ? value : last) : 0;
}

// Roundings of a float coordinate, up to 16383.
constexpr float kCoordinateError = 1.0f / 128;

// Of a line with |sin| >= |cos|: its end on the side of x, where it is between the rows `low` and `high`,
// moved into the picture.
CUDAVISION_HOST_DEVICE inline Point end_of_line(float rho, float cos, float sin, float x, Point last,
                                                float low, float high) {
  float y = (rho - x * cos) / sin;
  if (y < low || y > high) {
    y = y < low ? low : high;
    if (cos != 0) x = (rho - y * sin) / cos;
  }
  return {clamp_to(x, last.x), clamp_to(y, last.y)};
}

struct Ends {
  Point a, b;
};

// The visible part of a line with |sin| >= |cos|. Rounding can put a line beside the picture: within `beside`
// pixels of a border it is taken to lie on it, farther away all that is left of it is the corner next to it.
CUDAVISION_HOST_DEVICE inline Ends ends_of_line(float rho, float cos, float sin, Point last, float beside) {
  const float left = rho / sin, right = (rho - last.x * cos) / sin;
  const bool misses = (left < 0 && right < 0) || (left > last.y && right > last.y);
  const float margin = misses ? beside : kCoordinateError, low = -margin, high = last.y + margin;
  return {end_of_line(rho, cos, sin, 0, last, low, high),
          end_of_line(rho, cos, sin, last.x, last, low, high)};
}

CUDAVISION_HOST_DEVICE inline HoughLine make_line(float rho, float theta, std::uint32_t votes, Point a,
                                                  Point b) {
  const bool in_order = a.x < b.x || (a.x == b.x && a.y <= b.y);
  const Point first = in_order ? a : b, second = in_order ? b : a;
  return {rho, theta, votes, first.x, first.y, second.x, second.y};
}

// The whole visible line of a peak.
CUDAVISION_HOST_DEVICE inline HoughLine line_of(const Space &space, Key key) {
  const Peak peak = peak_of(space, key);
  const Angle &angle = space.angles[peak.n];
  const Point last{static_cast<float>(space.width - 1), static_cast<float>(space.height - 1)};
  const float beside = 1.5f * space.rho;
  if (angle.flat) {
    const Ends ends = ends_of_line(peak.rho, angle.cos, angle.sin, last, beside);
    return make_line(peak.rho, angle.theta, peak.votes, ends.a, ends.b);
  }
  const Ends swapped = ends_of_line(peak.rho, angle.sin, angle.cos, {last.y, last.x}, beside);
  return make_line(peak.rho, angle.theta, peak.votes, {swapped.a.y, swapped.a.x}, {swapped.b.y, swapped.b.x});
}

// --- gradients ---

// A direction modulo pi: its octant pair and, within it, 256 steps of the tangent; or none.
constexpr int kTangentSteps = 256, kDirections = 4 * kTangentSteps, kNoDirection = kDirections;

CUDAVISION_HOST_DEVICE constexpr int direction_of(int dx, int dy) {
  const int ax = dx < 0 ? -dx : dx, ay = dy < 0 ? -dy : dy, longer = ax > ay ? ax : ay;
  if (longer == 0) return kNoDirection;
  const int t = (ax > ay ? ay : ax) * kTangentSteps / longer;
  const int step = t < kTangentSteps ? t : kTangentSteps - 1, mirrored = kTangentSteps - 1 - step;
  const bool falling = (dx < 0) == (dy < 0) || dy == 0;  // x and y grow together: 0 to 90 degrees
  if (falling) return ax >= ay ? step : kTangentSteps + mirrored;
  return ax < ay ? 2 * kTangentSteps + step : 3 * kTangentSteps + mirrored;
}

// Of the Sobel operator of 3 at pixel (x, y); luma is replicated outside the picture.
CUDAVISION_HOST_DEVICE inline int gradient_direction(ImageView<const std::uint8_t> luma, int x, int y) {
  const int left = clamp_index(x - 1, luma.width), right = clamp_index(x + 1, luma.width);
  const std::uint8_t *above = luma.row(clamp_index(y - 1, luma.height)), *row = luma.row(y),
                     *below = luma.row(clamp_index(y + 1, luma.height));
  const int dx = above[right] - above[left] + 2 * (row[right] - row[left]) + below[right] - below[left];
  const int dy = below[left] - above[left] + 2 * (below[x] - above[x]) + below[right] - above[right];
  return direction_of(dx, dy);
}

// The directions of the accumulator that a gradient votes for: [begin, end) of two stretches, either may be
// empty.
struct Stretches {
  int begin[2], end[2];
};

// --- what is made on the host for one set of parameters ---

struct Plan {
  std::vector<Angle> angles;
  int rho_count = 0, stride = 0;
  float rho = 0;
  std::size_t cells() const { return angles.size() * static_cast<std::size_t>(stride); }
  // How many peaks there can be: of two neighbours in a row at most one.
  std::size_t most_peaks() const { return cells() / 2; }
};

// Refuses what has more cells than can be numbered, or more than 2 GiB of votes.
Status make_plan(Size size, const HoughParams &params, Plan *plan);
// kDirections + 1 entries, the last one for kNoDirection: all.
std::vector<Stretches> stretches_of(const Plan &plan);
// Whether two sets of parameters have the same plan.
bool same_plan(const HoughParams &a, const HoughParams &b);

inline Space space_of(const Plan &plan, Size size, const Angle *angles, std::uint32_t *votes) {
  return {angles,     votes,      static_cast<int>(plan.angles.size()), plan.rho_count, plan.stride, plan.rho,
          size.width, size.height};
}

// What Hough::run refuses: images of another size than it was made for, invalid parameters, no luma.
Status check_run(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma, Size made_for,
                 const HoughParams &params);
Status check_votes(ImageView<std::uint32_t> votes, const Plan *plan);

Status make_hough_cpu(const Execution &execution, Size size, std::unique_ptr<Hough> *hough);
Status make_hough_cuda(const Execution &execution, Size size, std::unique_ptr<Hough> *hough);

}  // namespace cudavision::hough
