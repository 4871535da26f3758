// SPDX-License-Identifier: LGPL-2.1-or-later
// The computed test pictures.
#include "tests/support/pictures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace cudavision::test {
namespace {

template <typename Value>
Picture from_function(Size size, const Value &value) {
  Picture picture(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) picture.at(x, y) = static_cast<std::uint8_t>(value(x, y));
  return picture;
}

// The rounded mean of the (2 radius + 1)^2 pixels around each pixel. Pixels outside repeat the border.
Picture box_filter(const Picture &src, int radius) {
  const int side = 2 * radius + 1;
  return from_function(src.size(), [&](int x, int y) {
    int sum = 0;
    for (int dy = -radius; dy <= radius; ++dy)
      for (int dx = -radius; dx <= radius; ++dx)
        sum += src.at(clamp_index(x + dx, src.width()), clamp_index(y + dy, src.height()));
    return (sum + side * side / 2) / (side * side);
  });
}

Picture stretch(const Picture &src) {
  const auto [least, most] = std::minmax_element(src.pixels().begin(), src.pixels().end());
  const int low = *least, range = std::max(1, *most - *least);
  return from_function(src.size(), [&](int x, int y) { return (src.at(x, y) - low) * 255 / range; });
}

constexpr int kGround = 60, kBand = 100,
              kSeed = 220;   // luma; edges of the seed are four times as strong
constexpr int kPeriod = 10;  // distance between neighbouring turns of the band in pixels

// The band's luma at a distance from its end. It grows gradually, because a sudden change would break the outline.
int band_luma(Seed seed, double distance, double length) {
  if (seed == Seed::none || distance > length) return kBand;
  return kSeed - static_cast<int>((kSeed - kBand) * distance / length);
}

}  // namespace

Picture constant(Size size, std::uint8_t value) { return Picture(size, value); }

Picture noise(Size size, unsigned seed) {
  Random random(seed);
  return from_function(size, [&](int, int) { return random.byte(); });
}

Picture smooth_noise(Size size, int radius_px, unsigned seed) {
  Picture picture = noise(size, seed);
  for (int pass = 0; pass < 3; ++pass) picture = stretch(box_filter(picture, radius_px));
  return picture;
}

Picture ramp(Size size, int x_slope, int y_slope) {
  return from_function(size, [&](int x, int y) { return (x_slope * x + y_slope * y) & 255; });
}

Picture checkerboard(Size size, int cell_px, std::uint8_t dark, std::uint8_t bright) {
  return from_function(size,
                       [&](int x, int y) { return (x / cell_px + y / cell_px) % 2 == 0 ? dark : bright; });
}

Picture half_plane(Size size, int x, int y, int nx, int ny, std::uint8_t dark, std::uint8_t bright) {
  return from_function(size,
                       [&](int px, int py) { return nx * (px - x) + ny * (py - y) >= 0 ? bright : dark; });
}

Picture fringes(Size size, int tile_px, Seed seed) {
  constexpr int kReach = 4, kStripe = 3;  // pixels; a stripe narrower than 3 has no edges of its own
  const auto to_border = [&](int v) { return std::min(v % tile_px, tile_px - 1 - v % tile_px); };
  return from_function(size, [&](int x, int y) {
    const int to_vertical = to_border(x), to_horizontal = to_border(y);
    if (std::min(to_vertical, to_horizontal) >= kReach) return kGround;
    const bool across_horizontal = to_horizontal <= to_vertical;
    const int along = across_horizontal ? x : y, across = across_horizontal ? y : x;
    if (along / kStripe % 2 != 0) return kGround;
    const int stripe = along / kStripe + across / tile_px, distance = (across + kReach) % tile_px;
    const bool mirrored = stripe / 5 % 2 != 0;
    return stripe % 5 == 0 ? band_luma(seed, mirrored ? 2 * kReach - 1 - distance : distance, 2 * kReach)
                           : kBand;
  });
}

Picture serpentine(Size size, Seed seed) {
  constexpr int kMargin = 4, kWidth = kPeriod / 2;
  const int right = size.width - 1 - kMargin, last = (size.height - 2 * kMargin - kWidth) / kPeriod;
  const Picture sharp = from_function(size, [&](int x, int y) {
    const int row = (y - kMargin) / kPeriod, in_row = (y - kMargin) % kPeriod;
    if (x < kMargin || x > right || y < kMargin || row > last || (row == last && in_row >= kWidth))
      return kGround;
    const bool turns_right = row % 2 == 0;
    const bool turn = turns_right ? x > right - kWidth : x < kMargin + kWidth;
    if (in_row >= kWidth && !turn) return kGround;
    const bool end_is_right = last % 2 == 0;
    return row == last ? band_luma(seed, end_is_right ? right - x : x - kMargin, 60) : kBand;
  });
  return box_filter(box_filter(sharp, 1), 1);  // rounds the corners, where the outline would break
}

Picture spiral(Size size, Seed seed) {
  const double pi = std::acos(-1.0), centre_x = (size.width - 1) / 2.0, centre_y = (size.height - 1) / 2.0;
  const double outer = std::min(size.width, size.height) / 2.0 - 6;
  const Picture sharp = from_function(size, [&](int x, int y) {
    const double dx = x - centre_x, dy = y - centre_y, r = std::hypot(dx, dy);
    const double turn = std::atan2(dy, dx) / (2 * pi) + 0.5;  // 0 to 1
    // The centre line of the band has the radius (turns + turn) kPeriod.
    const double turns = std::floor(r / kPeriod - turn + 0.5), middle = (turns + turn) * kPeriod;
    if (turns < 1 || middle > outer || std::abs(r - middle) > kPeriod / 4.0) return kGround;
    return band_luma(seed, (outer - middle) / kPeriod, 0.2);  // in turns
  });
  return box_filter(box_filter(sharp, 1), 1);
}

}  // namespace cudavision::test
