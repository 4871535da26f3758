// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend's edge points and votes. Highway compiles the computation of distances once per instruction
// set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/hough/votes_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <cstdint>

#include "cuda/hough/hough_rules.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::hough::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sets cells[i] to the cell of the angle's row that point i votes for: distance_bits() minus bias. count must
// be a multiple of kBlock, because whole vectors are read and written.
void distances(const float *x, const float *y, int count, float scaled_cos, float scaled_sin, int bias,
               std::int32_t *cells) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const auto c = hn::Set(d, scaled_cos), s = hn::Set(d, scaled_sin), rounding = hn::Set(d, kRoundingFloat);
  const auto first = hn::Set(integers, bias);
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(d))) {
    // The products, the sum and the rounding are separate operations (no FMA), as in distance_bits().
    const auto sum = hn::Add(hn::Mul(hn::LoadU(d, x + i), c), hn::Mul(hn::LoadU(d, y + i), s));
    hn::StoreU(hn::Sub(hn::BitCast(integers, hn::Add(sum, rounding)), first), integers, cells + i);
  }
}

}  // namespace cudavision::hough::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cstring>

#include "cuda/hough/votes_simd.h"

namespace cudavision::hough {
namespace {

HWY_EXPORT(distances);

// The number of points per block. Their coordinates and cells stay in the L1 cache.
constexpr int kBlock = 512;

// Calls visit(x) for each nonzero row[x]. Edges are sparse, so eight zero pixels are skipped at once.
template <typename Visit>
void for_each_edge(const std::uint8_t *row, int width, const Visit &visit) {
  int x = 0;
  for (; x + 8 <= width; x += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, row + x, 8);
    if (eight == 0) continue;
    for (int i = x; i < x + 8; ++i)
      if (row[i] != 0) visit(i);
  }
  for (; x < width; ++x)
    if (row[x] != 0) visit(x);
}

// Consecutive points often lie on the same edge and vote for the same cell, so that each increment would
// depend on the one before. Four distant parts of the block are therefore interleaved.
void count_block(const std::int32_t (&cells)[kBlock], std::uint32_t *row) {
  constexpr int kPart = kBlock / 4;
  for (int i = 0; i < kPart; ++i)
    for (int part = 0; part < 4; ++part) ++row[cells[part * kPart + i]];
}

}  // namespace

void list_points(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma, int first, int last,
                 EdgePoints *points) {
  points->x.clear(), points->y.clear(), points->direction.clear();
  for (int y = first; y < last; ++y)
    for_each_edge(edges.row(y), edges.width, [&](int x) {
      points->x.push_back(static_cast<float>(x));
      points->y.push_back(static_cast<float>(y));
      if (luma.data != nullptr)
        points->direction.push_back(static_cast<std::uint16_t>(gradient_direction(luma, x, y)));
    });
}

void vote(const Accumulator &accumulator, int first, int last, const EdgePoints &points) {
  std::int32_t cells[kBlock];
  const std::size_t count = points.count(), whole = count / kBlock * kBlock;
  for (std::size_t i = 0; i < whole; i += kBlock)
    for (int n = first; n < last; ++n) {
      const Angle &angle = accumulator.angles[n];
      HWY_DYNAMIC_DISPATCH(distances)
      (points.x.data() + i, points.y.data() + i, kBlock, angle.scaled_cos, angle.scaled_sin,
       kRoundingBits + angle.first, cells);
      count_block(cells, accumulator.votes + accumulator.row(n));
    }
  for (int n = first; n < last; ++n) {
    const Angle &angle = accumulator.angles[n];
    std::uint32_t *row = accumulator.votes + accumulator.row(n);
    for (std::size_t i = whole; i < count; ++i)
      ++row[distance_bits(points.x[i], points.y[i], angle.scaled_cos, angle.scaled_sin) - kRoundingBits -
            angle.first];
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
#endif
