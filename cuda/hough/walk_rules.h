// SPDX-License-Identifier: LGPL-2.1-or-later
// How segments are found along a line, for both backends, in integers.
//
// 1. Walk. Step by step along the axis the line is flat against, three pixels wide across it: a step is
//    present when one of its pixels is an edge. A run is what hangs together but for gaps of at most max_gap
//    steps, less what hangs on it too loosely (RunFinder); it is a candidate when its ends are at least
//    min_length apart.
// 2. Claim. Every candidate claims the edge pixels of its steps; a pixel belongs to the one whose line comes
//    first.
// 3. Judge. A candidate is a segment when more than half of its present steps have a pixel of its own. So of
//    the many peaks that one drawn line makes in the accumulator one reports it, and lines that cross keep
//    their length.
// Nothing depends on an order of threads: pixels go to the least rank, candidates are judged one by one.
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

// The line of a peak as the walk follows it.
struct Walk {
  bool flat;              // steps are columns, otherwise rows
  int steps;              // of the picture
  long long base, slope;  // across = base + step slope, in 2^-kFractionBits pixels

  CUDAVISION_HOST_DEVICE int center(int step) const {
    return static_cast<int>((base + step * slope + (1ll << (kFractionBits - 1))) >> kFractionBits);
  }
};

CUDAVISION_HOST_DEVICE inline Walk walk_of(const Space &space, const Peak &peak) {
  const Angle &angle = space.angles[peak.n];
  const long long base = to_fraction(static_cast<double>(peak.rho) * angle.per_step);
  if (angle.flat) return {true, space.width, base, angle.slope};
  return {false, space.height, base, angle.slope};
}

struct Pixel {
  int x, y;
};

// The pixels of a step have numbers in the order in which they are preferred as an end: 0 the line's own, 1
// the one before it across the line, 2 the one behind it.
constexpr int kPixelsOfStep = 3;
CUDAVISION_HOST_DEVICE inline Pixel pixel_of(const Walk &walk, int step, int number) {
  const int at = walk.center(step) + (number == 0 ? 0 : number == 1 ? -1 : 1);
  return walk.flat ? Pixel{step, at} : Pixel{at, step};
}

// Which of them are edges, a bit for each number.
CUDAVISION_HOST_DEVICE inline unsigned edges_of_step(const Walk &walk, ImageView<const std::uint8_t> edges,
                                                     int step) {
  unsigned bits = 0;
  for (int number = 0; number < kPixelsOfStep; ++number) {
    const Pixel pixel = pixel_of(walk, step, number);
    const bool inside = pixel.x >= 0 && pixel.y >= 0 && pixel.x < edges.width && pixel.y < edges.height;
    if (inside && edges.row(pixel.y)[pixel.x] != 0) bits |= 1u << number;
  }
  return bits;
}

// Where a run begins or ends at this step, which is present.
CUDAVISION_HOST_DEVICE inline Pixel end_of_run(const Walk &walk, ImageView<const std::uint8_t> edges,
                                               int step) {
  return pixel_of(walk, step, trailing_zeros(edges_of_step(walk, edges, step)));
}

// A candidate, and the order of candidates: rank of its line, then its first step.
struct Run {
  int rank, first, last;  // below 2^20 lines and 2^14 steps

  CUDAVISION_HOST_DEVICE Key pack() const {
    return static_cast<Key>(rank) << 28 | static_cast<Key>(first) << 14 | static_cast<Key>(last);
  }
  CUDAVISION_HOST_DEVICE static Run unpack(Key key) {
    return {static_cast<int>(key >> 28), static_cast<int>(key >> 14 & 0x3fff),
            static_cast<int>(key & 0x3fff)};
  }
};

// How many candidates a line can have: each takes the steps of its length, which a diagonal makes shortest,
// and a step between it and the next.
inline int most_runs_of_line(Size size, int min_length) {
  const int longer = size.width > size.height ? size.width : size.height;
  const int least_steps = static_cast<int>(min_length / 1.4142136) + 1;
  return longer / (least_steps + 1) + 1;
}

CUDAVISION_HOST_DEVICE inline bool is_long(Pixel a, Pixel b, int min_length) {
  const long long dx = a.x - b.x, dy = a.y - b.y;
  return dx * dx + dy * dy >= static_cast<long long>(min_length) * min_length;
}

// Joins present steps to runs. The first and the last stretch without a gap are left off, the first one
// first, while there are others and when they have fewer steps than the gap beside them: rather than to the
// line they belong to one that crosses it, or are noise.
struct RunFinder {
  int max_gap;
  int first = -1, last = 0;             // of the run; none when first is negative
  int stretches = 0;                    // of the run
  int first_end = 0, second_begin = 0;  // of its first two stretches
  int last_begin = 0, before_last = 0;  // of its last stretch, and the end of the one before

  // Steps step to step + 31, present where bits are set. Calls close(first, last) for each run that ended.
  template <typename Close>
  CUDAVISION_HOST_DEVICE void feed(unsigned bits, int step, const Close &close) {
    while (bits != 0) {
      const int begin = trailing_zeros(bits), length = trailing_zeros(~(bits >> begin));
      add(step + begin, step + begin + length - 1, close);
      bits = begin + length >= 32 ? 0 : bits >> (begin + length) << (begin + length);
    }
  }
  template <typename Close>
  CUDAVISION_HOST_DEVICE void finish(const Close &close) {
    if (first < 0) return;
    if (stretches > 1 && first_end - first + 1 < second_begin - first_end - 1)
      first = second_begin, --stretches;
    if (stretches > 1 && last - last_begin + 1 < last_begin - before_last - 1) last = before_last;
    close(first, last);
    first = -1, stretches = 0;
  }

 private:
  template <typename Close>
  CUDAVISION_HOST_DEVICE void add(int begin, int end, const Close &close) {
    if (first >= 0 && begin - last - 1 > max_gap) finish(close);
    if (first >= 0 && begin == last + 1) {  // goes on from the steps before
      if (stretches == 1) first_end = end;
    } else {
      if (first < 0) first = begin, first_end = end;
      if (stretches == 1) second_begin = begin;
      before_last = last, last_begin = begin;
      ++stretches;
    }
    last = end;
  }
};

CUDAVISION_HOST_DEVICE inline HoughLine segment_of(const Space &space, const Key *keys, Key run_key,
                                                   ImageView<const std::uint8_t> edges) {
  const Run run = Run::unpack(run_key);
  const Peak peak = peak_of(space, keys[run.rank]);
  const Walk walk = walk_of(space, peak);
  const Pixel a = end_of_run(walk, edges, run.first), b = end_of_run(walk, edges, run.last);
  return make_line(peak.rho, space.angles[peak.n].theta, peak.votes,
                   {static_cast<float>(a.x), static_cast<float>(a.y)},
                   {static_cast<float>(b.x), static_cast<float>(b.y)});
}

}  // namespace cudavision::hough
