// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend's edge points and votes.
#include "cuda/hough/votes_cpu.h"

#include <algorithm>

namespace cudavision::hough {
namespace {

// The number of points per block. Their coordinates and cells stay in the L1 cache.
constexpr int kBlock = 512;

// Consecutive points often lie on the same edge and vote for the same cell, so that each increment would
// depend on the one before. Four distant parts of the block are therefore interleaved.
void count_votes(const std::int32_t *cells, int count, std::uint32_t *row) {
  const int part = count / 4;
  for (int i = 0; i < part; ++i)
    for (int k = 0; k < 4; ++k) ++row[cells[k * part + i]];
  for (int i = 4 * part; i < count; ++i) ++row[cells[i]];
}

}  // namespace

void list_points(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma, int first, int last,
                 EdgePoints *points) {
  points->x.clear(), points->y.clear(), points->direction.clear();
  for (int y = first; y < last; ++y)
    for (int x = 0; x < edges.width; ++x) {
      if (edges.row(y)[x] == 0) continue;
      points->x.push_back(static_cast<float>(x));
      points->y.push_back(static_cast<float>(y));
      if (luma.data != nullptr)
        points->direction.push_back(static_cast<std::uint16_t>(gradient_direction(luma, x, y)));
    }
}

void vote(const Accumulator &accumulator, int first, int last, const EdgePoints &points) {
  std::int32_t cells[kBlock];
  for (std::size_t begin = 0; begin < points.count(); begin += kBlock)
    for (int n = first; n < last; ++n) {
      const Angle &angle = accumulator.angles[n];
      const float *x = points.x.data() + begin, *y = points.y.data() + begin;
      const int count = static_cast<int>(std::min<std::size_t>(kBlock, points.count() - begin));
      for (int i = 0; i < count; ++i)
        cells[i] =
            distance_bits(x[i], y[i], angle.scaled_cos, angle.scaled_sin) - kRoundingBits - angle.first;
      count_votes(cells, count, accumulator.votes + accumulator.row(n));
    }
}

void vote_near_gradient(const Accumulator &accumulator, int first, int last, const EdgePoints &points,
                        const std::vector<AngleIntervals> &intervals) {
  for (std::size_t i = 0; i < points.count(); ++i) {
    const AngleIntervals &near = intervals[points.direction[i]];
    for (int part = 0; part < 2; ++part)
      for (int n = std::max(first, near.begin[part]); n < std::min(last, near.end[part]); ++n) {
        const Angle &angle = accumulator.angles[n];
        ++accumulator.votes[accumulator.row(n) +
                            (distance_bits(points.x[i], points.y[i], angle.scaled_cos, angle.scaled_sin) -
                             kRoundingBits - angle.first)];
      }
  }
}

}  // namespace cudavision::hough
