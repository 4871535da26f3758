// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of the Hough transform that both backends share.
#pragma once

#include <cstdint>
#include <cstring>

#include "cuda/common/host_device.h"
#include "cuda/hough/hough.h"

namespace cudavision::hough {

// The sort key of a line (key_of()) or of a segment (Run::pack()). Lists are in ascending order of the keys.
using Key = unsigned long long;

// One direction (angle theta) of the accumulator.
struct Angle {
  // cos and sin of theta divided by the resolution of rho. Here theta is accumulated in floats, as cv::HoughLines does.
  float scaled_cos, scaled_sin;
  // The distances that pixels of the image can have: [first, first + count), in steps of rho.
  int first, count;
  // theta with its cos and sin. If theta is negative, make_line() reports theta + pi and -rho.
  float theta, cos, sin;
  // For the walk along a line (walk_rules.h): 1 / sin if the line is flat, otherwise 1 / cos.
  double per_step;
  // For the walk: the movement across the axis of the walk per step, in 2^-kFractionBits pixels.
  int slope;
  // Whether the line is closer to the x axis than to the y axis: |sin| >= |cos|. The walk then goes along x.
  bool flat;
};

constexpr int kFractionBits = 20;

// Converts a value to fixed point, in units of 2^-kFractionBits, rounded half up.
CUDAVISION_HOST_DEVICE inline long long to_fraction(double value) {
  const double scaled = value * (1 << kFractionBits) + 0.5;
  const long long truncated = static_cast<long long>(scaled);
  return truncated - (static_cast<double>(truncated) > scaled ? 1 : 0);
}

// 1.5 * 2^23. Adding a float to it rounds the float half to even; the integer result is in the low bits of the sum.
constexpr float kRoundingFloat = 12582912.0f;
constexpr int kRoundingBits = 0x4B400000;

// The distance (rho) of pixel (x, y) in steps of rho, rounded as cvRound() does, plus kRoundingBits. Both
// products and their sum are rounded separately. validate() keeps distances below 2^22.
CUDAVISION_HOST_DEVICE inline int distance_bits(float x, float y, float scaled_cos, float scaled_sin) {
  const float rounded = (x * scaled_cos + y * scaled_sin) + kRoundingFloat;
  int bits;
  memcpy(&bits, &rounded, sizeof bits);
  return bits;
}

// The accumulator: one row of `stride` votes per direction, in row-major order. Elements [0, angle.count) of
// a row are used, the rest is 0.
struct Accumulator {
  const Angle *angles;
  std::uint32_t *votes;
  int angle_count, rho_count;
  int stride;  // elements per row, a multiple of 4
  // Whether the directions cover half a turn: the last one is then next to the first one, with distances of opposite
  // sign.
  bool covers_half_turn;
  float rho;
  int width, height;  // of the image

  CUDAVISION_HOST_DEVICE std::ptrdiff_t row(int n) const { return static_cast<std::ptrdiff_t>(n) * stride; }
  // The column of a distance in OpenCV's accumulator, whose rows have rho_count elements with distance 0 in
  // the middle. With a coarse rho the corners of the image can have column -1 or rho_count, which are in the
  // border around OpenCV's accumulator: the votes are counted there as well, but they are never peaks.
  CUDAVISION_HOST_DEVICE int index_of(int distance) const { return distance + (rho_count - 1) / 2; }
};

// The key of a peak. Lines are sorted by votes, most first, then by OpenCV's linear index of the cell.
CUDAVISION_HOST_DEVICE inline Key key_of(const Accumulator &accumulator, int n, int distance,
                                         std::uint32_t votes) {
  const unsigned index = static_cast<unsigned>(n + 1) * static_cast<unsigned>(accumulator.rho_count + 2) +
                         static_cast<unsigned>(accumulator.index_of(distance) + 1);
  return Key{~votes} << 32 | index;
}

struct Peak {
  int n;         // index of the angle
  int distance;  // in steps of rho
  std::uint32_t votes;
  float rho;  // the distance in pixels
};
CUDAVISION_HOST_DEVICE inline Peak peak_of(const Accumulator &accumulator, Key key) {
  const unsigned index = static_cast<unsigned>(key),
                 columns = static_cast<unsigned>(accumulator.rho_count + 2);
  const int r = static_cast<int>(index % columns) - 1;
  return {static_cast<int>(index / columns) - 1, r - (accumulator.rho_count - 1) / 2,
          ~static_cast<unsigned>(key >> 32),
          (static_cast<float>(r) - static_cast<float>(accumulator.rho_count - 1) * 0.5f) * accumulator.rho};
}

// The votes of direction n and distance d, or 0 outside the accumulator. load(offset) reads accumulator.votes[offset].
template <typename Load>
CUDAVISION_HOST_DEVICE std::uint32_t votes_at(const Accumulator &accumulator, int n, int d,
                                              const Load &load) {
  if (n < 0 || n >= accumulator.angle_count) return 0;
  const int i = d - accumulator.angles[n].first;
  return i < 0 || i >= accumulator.angles[n].count ? 0 : load(accumulator.row(n) + i);
}

// A cell of the accumulator, by its direction and its distance in steps of rho.
struct Cell {
  int n, d;
};

// Returns the cell of the accumulator for a cell whose direction n may be less than 0 or too large: at theta + pi the
// same line has a distance of the opposite sign. If the directions do not cover half a turn, returns the cell
// unchanged; votes_at() is then 0 outside the accumulator.
CUDAVISION_HOST_DEVICE inline Cell same_line(const Accumulator &accumulator, Cell cell) {
  if (!accumulator.covers_half_turn) return cell;
  while (cell.n < 0) cell = {cell.n + accumulator.angle_count, -cell.d};
  while (cell.n >= accumulator.angle_count) cell = {cell.n - accumulator.angle_count, -cell.d};
  return cell;
}

// Returns true if the cell at direction n and distance d, whose `votes` exceed the threshold, is a local maximum: ties
// between neighbours are broken as OpenCV does, and within nms_radius no cell has more votes, or has equally many and
// precedes this cell in the order of lines.
template <typename Load>
CUDAVISION_HOST_DEVICE bool is_peak(const Accumulator &accumulator, int n, int d, std::uint32_t votes,
                                    int nms_radius, const Load &load) {
  if (accumulator.index_of(d) < 0 || accumulator.index_of(d) >= accumulator.rho_count) return false;
  // All four neighbours are loaded before the first comparison, so that a GPU waits once.
  const std::uint32_t left = votes_at(accumulator, n, d - 1, load),
                      right = votes_at(accumulator, n, d + 1, load),
                      before = votes_at(accumulator, n - 1, d, load),
                      after = votes_at(accumulator, n + 1, d, load);
  if (votes <= left || votes < right || votes <= before || votes < after) return false;
  for (int dn = -nms_radius; dn <= nms_radius; ++dn)
    for (int dd = -nms_radius; dd <= nms_radius; ++dd) {
      const Cell cell = same_line(accumulator, {n + dn, d + dd});
      const bool precedes = cell.n < n || (cell.n == n && cell.d < d), self = cell.n == n && cell.d == d;
      const std::uint32_t other = votes_at(accumulator, cell.n, cell.d, load);
      if (!self && (other > votes || (precedes && other == votes))) return false;
    }
  return true;
}

struct Point {
  float x, y;
};

// Clamps to [0, last]; -0 becomes 0.
CUDAVISION_HOST_DEVICE constexpr float clamp_to(float value, float last) {
  return value > 0 ? (value < last ? value : last) : 0;
}

// An upper bound of the rounding error of a float coordinate, which is at most 16383.
constexpr float kCoordinateError = 1.0f / 128;

// One end of a line with |sin| >= |cos|: its point in column x. If that point is not between the rows `low`
// and `high`, the end is where the line meets the nearer of these rows. The result is clamped to the image.
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

// The visible part of a line with |sin| >= |cos|. Rounding can put a line outside the image: within `beside` pixels of
// a border the line is treated as being on that border; farther away it is reduced to the nearest corner.
CUDAVISION_HOST_DEVICE inline Ends ends_of_line(float rho, float cos, float sin, Point last, float beside) {
  const float left = rho / sin, right = (rho - last.x * cos) / sin;
  const bool misses = (left < 0 && right < 0) || (left > last.y && right > last.y);
  const float margin = misses ? beside : kCoordinateError, low = -margin, high = last.y + margin;
  return {end_of_line(rho, cos, sin, 0, last, low, high),
          end_of_line(rho, cos, sin, last.x, last, low, high)};
}

CUDAVISION_HOST_DEVICE inline HoughLine make_line(float rho, float theta, std::uint32_t votes, Point a,
                                                  Point b) {
  if (theta < 0) rho = 0 - rho, theta += 3.14159265f;
  const bool in_order = a.x < b.x || (a.x == b.x && a.y <= b.y);
  const Point first = in_order ? a : b, second = in_order ? b : a;
  return {rho, theta, votes, first.x, first.y, second.x, second.y};
}

// The line of a peak, from end to end of its visible part.
CUDAVISION_HOST_DEVICE inline HoughLine line_of(const Accumulator &accumulator, Key key) {
  const Peak peak = peak_of(accumulator, key);
  const Angle &angle = accumulator.angles[peak.n];
  const Point last{static_cast<float>(accumulator.width - 1), static_cast<float>(accumulator.height - 1)};
  const float beside = 1.5f * accumulator.rho;
  if (angle.flat) {
    const Ends ends = ends_of_line(peak.rho, angle.cos, angle.sin, last, beside);
    return make_line(peak.rho, angle.theta, peak.votes, ends.a, ends.b);
  }
  const Ends swapped = ends_of_line(peak.rho, angle.sin, angle.cos, {last.y, last.x}, beside);
  return make_line(peak.rho, angle.theta, peak.votes, {swapped.a.y, swapped.a.x}, {swapped.b.y, swapped.b.x});
}

// --- gradients ---

// The number of a gradient direction modulo pi: 256 steps of the tangent in each of the four pairs of opposite octants.
// kNoDirection stands for a zero gradient.
constexpr int kTangentSteps = 256, kDirections = 4 * kTangentSteps, kNoDirection = kDirections;

CUDAVISION_HOST_DEVICE constexpr int direction_of(int dx, int dy) {
  const int ax = dx < 0 ? -dx : dx, ay = dy < 0 ? -dy : dy, longer = ax > ay ? ax : ay;
  if (longer == 0) return kNoDirection;
  const int t = (ax > ay ? ay : ax) * kTangentSteps / longer;
  const int step = t < kTangentSteps ? t : kTangentSteps - 1, mirrored = kTangentSteps - 1 - step;
  const bool falling = (dx < 0) == (dy < 0) || dy == 0;  // x and y increase together: 0 to 90 degrees
  if (falling) return ax >= ay ? step : kTangentSteps + mirrored;
  return ax < ay ? 2 * kTangentSteps + step : 3 * kTangentSteps + mirrored;
}

// The direction of the 3x3 Sobel gradient at pixel (x, y). The border of the image is replicated.
CUDAVISION_HOST_DEVICE inline int gradient_direction(ImageView<const std::uint8_t> luma, int x, int y) {
  const int left = clamp_index(x - 1, luma.width), right = clamp_index(x + 1, luma.width);
  const std::uint8_t *above = luma.row(clamp_index(y - 1, luma.height)), *row = luma.row(y),
                     *below = luma.row(clamp_index(y + 1, luma.height));
  const int dx = above[right] - above[left] + 2 * (row[right] - row[left]) + below[right] - below[left];
  const int dy = below[left] - above[left] + 2 * (below[x] - above[x]) + below[right] - above[right];
  return direction_of(dx, dy);
}

// The angles of the accumulator that a gradient direction votes for: the intervals [begin[i], end[i]) of
// angle indices. Either interval can be empty. There are two because angles wrap around at pi.
struct AngleIntervals {
  int begin[2], end[2];
};

}  // namespace cudavision::hough
