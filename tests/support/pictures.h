// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures for tests that are computed: the same bits on every machine.
#pragma once

#include <cstdint>
#include <random>

#include "tests/support/picture.h"

namespace cudavision::test {

// Numbers of a seed that do not depend on the standard library's distributions.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::uint8_t byte() { return static_cast<std::uint8_t>(engine_() >> 24); }
  int below(int limit) { return static_cast<int>(engine_() % static_cast<unsigned>(limit)); }

 private:
  std::mt19937 engine_;
};

Picture constant(Size size, std::uint8_t value);
// Every pixel for itself, 0 to 255.
Picture noise(Size size, unsigned seed);
// Noise after three box filters of the radius, stretched to 0 to 255: long curved edges.
Picture smooth_noise(Size size, int radius_px, unsigned seed);
// x_slope x + y_slope y, modulo 256.
Picture ramp(Size size, int x_slope, int y_slope);
Picture checkerboard(Size size, int cell_px, std::uint8_t dark, std::uint8_t bright);
// The bright side of the line through (x, y): nx (px - x) + ny (py - y) >= 0.
Picture half_plane(Size size, int x, int y, int nx, int ny, std::uint8_t dark, std::uint8_t bright);
// In the following edges are weak everywhere (magnitude 160 of the Sobel operator of 3, L1, below 300 at
// corners), but with a seed they become four times as strong by and by towards a few ends.
enum class Seed { none, at_the_end };
// Short stripes across the borders of all tiles, as many as a border can have with edges of their own; of
// every fifth one end is a seed.
Picture fringes(Size size, int tile_px, Seed seed);
// A band whose outline is one long closed edge through the whole picture; the very end of the band is a seed.
Picture serpentine(Size size, Seed seed);
Picture spiral(Size size, Seed seed);

}  // namespace cudavision::test
