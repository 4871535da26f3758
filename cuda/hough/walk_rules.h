// SPDX-License-Identifier: LGPL-2.1-or-later
// The search for segments along a line, shared by both backends. All decisions are made in integers.
//
// 1. Walk. The walk follows the line step by step along the x axis (if the line is flat) or the y axis. A
//    step covers three pixels across the line and is present if at least one of them is an edge. A run is a
//    sequence of present steps with gaps of at most max_gap steps. A piece is a part of a run without a gap.
//    The first and the last piece are cut off if they have fewer steps than the gap next to them and if
//    another piece remains; the first piece is judged first. Such pieces usually belong to a crossing line,
//    or are noise. A run whose ends are at least min_length apart is a candidate.
// 2. Claim. Each candidate claims the edge pixels of its steps. A pixel belongs to the candidate whose line
//    has the lowest rank (position in the list of lines).
// 3. Judge. A candidate is a segment if it owns a pixel in more than half of its present steps. One drawn
//    line makes many peaks in the accumulator; this rule reports it only once, and lines that cross keep
//    their length.
//
// The result does not depend on the order of the threads: a pixel goes to the lowest rank, and each candidate
// is judged separately.
#pragma once

#include <bit>

#include "cuda/hough/hough_rules.h"

namespace cudavision::hough {

constexpr std::uint32_t kUnclaimed = 0xffffffffu;

CUDAVISION_HOST_DEVICE inline int trailing_zeros(unsigned bits) {
#ifdef __CUDA_ARCH__
  return bits == 0 ? 32 : __ffs(static_cast<int>(bits)) - 1;
#else
  return std::countr_zero(bits);
#endif
}

// The walk along the line of a peak.
struct LineWalk {
  bool flat;  // steps are columns, otherwise rows
  int steps;  // the width of the image if flat, otherwise its height
  // At each step, the y coordinate of a flat line (the x coordinate of another) is base + step * slope, in
  // 2^-kFractionBits pixels.
  long long base, slope;

  // base + step * slope plus half a pixel: its integer part is the coordinate of the nearest pixel.
  CUDAVISION_HOST_DEVICE long long position(int step) const {
    return base + step * slope + (1ll << (kFractionBits - 1));
  }
  CUDAVISION_HOST_DEVICE int center(int step) const {
    return static_cast<int>(position(step) >> kFractionBits);
  }
};

CUDAVISION_HOST_DEVICE inline LineWalk walk_of(const Accumulator &accumulator, const Peak &peak) {
  const Angle &angle = accumulator.angles[peak.n];
  const long long base = to_fraction(static_cast<double>(peak.rho) * angle.per_step);
  if (angle.flat) return {true, accumulator.width, base, angle.slope};
  return {false, accumulator.height, base, angle.slope};
}

struct Pixel {
  int x, y;
};

// The pixels of a step are numbered in the order in which they are preferred as an end of a segment: 0 is the
// pixel on the line, 1 its neighbour with the smaller coordinate across the line, 2 the other neighbour.
constexpr int kPixelsOfStep = 3;
CUDAVISION_HOST_DEVICE inline Pixel pixel_of(const LineWalk &walk, int step, int number) {
  const int at = walk.center(step) + (number == 0 ? 0 : number == 1 ? -1 : 1);
  return walk.flat ? Pixel{step, at} : Pixel{at, step};
}

// Bit i is set if pixel number i of the step is an edge.
CUDAVISION_HOST_DEVICE inline unsigned edges_of_step(const LineWalk &walk,
                                                     ImageView<const std::uint8_t> edges, int step) {
  unsigned bits = 0;
  for (int number = 0; number < kPixelsOfStep; ++number) {
    const Pixel pixel = pixel_of(walk, step, number);
    const bool inside = pixel.x >= 0 && pixel.y >= 0 && pixel.x < edges.width && pixel.y < edges.height;
    if (inside && edges.row(pixel.y)[pixel.x] != 0) bits |= 1u << number;
  }
  return bits;
}

// The pixel at which a run begins or ends. The step must be present.
CUDAVISION_HOST_DEVICE inline Pixel end_of_run(const LineWalk &walk, ImageView<const std::uint8_t> edges,
                                               int step) {
  return pixel_of(walk, step, trailing_zeros(edges_of_step(walk, edges, step)));
}

// A run along the line with this rank: the steps [first, last]. Packed runs are sorted by rank, then by first
// step.
struct Run {
  int rank;         // less than 2^20
  int first, last;  // less than 2^14

  CUDAVISION_HOST_DEVICE Key pack() const {
    return static_cast<Key>(rank) << 28 | static_cast<Key>(first) << 14 | static_cast<Key>(last);
  }
  CUDAVISION_HOST_DEVICE static Run unpack(Key key) {
    return {static_cast<int>(key >> 28), static_cast<int>(key >> 14 & 0x3fff),
            static_cast<int>(key & 0x3fff)};
  }
};

// The maximum number of candidates on a line. Each candidate takes as many steps as min_length requires, which are
// fewest on a diagonal, and one step before the next candidate.
constexpr int max_runs_of_line(Size size, int min_length) {
  const int longer = size.width > size.height ? size.width : size.height;
  const int least_steps = static_cast<int>(min_length / 1.4142136) + 1;
  return longer / (least_steps + 1) + 1;
}

CUDAVISION_HOST_DEVICE inline bool is_long(Pixel a, Pixel b, int min_length) {
  const long long dx = a.x - b.x, dy = a.y - b.y;
  return dx * dx + dy * dy >= static_cast<long long>(min_length) * min_length;
}

// Returns false if a run over the steps [first, last] cannot be long (is_long()), whichever of their pixels are its
// ends: a line moves at most one pixel across for each step, and an end is at most one pixel beside the line.
CUDAVISION_HOST_DEVICE inline bool may_be_long(int first, int last, int min_length) {
  const long long along = last - first, across = along + 3;
  return along * along + across * across >= static_cast<long long>(min_length) * min_length;
}

// The segment of a packed run. keys: the keys of the lines, by rank.
CUDAVISION_HOST_DEVICE inline HoughLine segment_of(const Accumulator &accumulator, const Key *keys,
                                                   Key run_key, ImageView<const std::uint8_t> edges) {
  const Run run = Run::unpack(run_key);
  const Peak peak = peak_of(accumulator, keys[run.rank]);
  const LineWalk walk = walk_of(accumulator, peak);
  const Pixel a = end_of_run(walk, edges, run.first), b = end_of_run(walk, edges, run.last);
  return make_line(peak.rho, accumulator.angles[peak.n].theta, peak.votes,
                   {static_cast<float>(a.x), static_cast<float>(a.y)},
                   {static_cast<float>(b.x), static_cast<float>(b.y)});
}

}  // namespace cudavision::hough
