// SPDX-License-Identifier: LGPL-2.1-or-later
// Computed test pictures, which have the same bits on every machine.
#pragma once

#include <cstdint>
#include <random>

#include "tests/support/picture.h"

namespace cudavision::test {

// A random number generator that does not use the standard library's distributions, which differ by platform.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::uint8_t byte() { return static_cast<std::uint8_t>(engine_() >> 24); }
  int below(int limit) { return static_cast<int>(engine_() % static_cast<unsigned>(limit)); }

 private:
  std::mt19937 engine_;
};

Picture constant(Size size, std::uint8_t value);
// Independent pixels from 0 to 255.
Picture noise(Size size, unsigned seed);
// Noise after three box filters of the given radius, scaled to 0 to 255. It has long curved edges.
Picture smooth_noise(Size size, int radius_px, unsigned seed);
// Pixel values x_slope x + y_slope y, modulo 256.
Picture ramp(Size size, int x_slope, int y_slope);
Picture checkerboard(Size size, int cell_px, std::uint8_t dark, std::uint8_t bright);
// The half plane nx (px - x) + ny (py - y) >= 0 is bright, the rest dark.
Picture half_plane(Size size, int x, int y, int nx, int ny, std::uint8_t dark, std::uint8_t bright);
// The edges of the next two pictures are weak (magnitude 160 of the 3x3 Sobel operator with the L1 norm,
// below 300 at corners). With a seed they grow gradually to four times that strength towards a few ends.
enum class Seed { none, at_the_end };
// Short stripes across the borders of all tiles, as many as fit with separate edges. In every fifth stripe
// one end is a seed.
Picture fringes(Size size, int tile_px, Seed seed);
// A band whose outline is a single closed edge through the whole picture. The end of the band is a seed.
Picture serpentine(Size size, Seed seed);
Picture spiral(Size size, Seed seed);

}  // namespace cudavision::test
