// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend's list of edge points, and the votes of these points.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/common/image.h"
#include "cuda/common/memory_budget.h"
#include "cuda/hough/hough_rules.h"

namespace cudavision::hough {

// The edge pixels of a strip of rows in row-major order, as a structure of arrays.
struct EdgePoints {
  Array<float> x, y;
  Array<std::uint16_t> direction;  // of the gradient; empty without gradient voting

  std::size_t count() const { return x.size(); }
};

// Replaces *points by the edge pixels of rows [first, last). Gradient directions are listed unless luma is
// empty.
void list_points(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma, int first, int last,
                 EdgePoints *points);

// Each point votes for all angles in [first, last).
void vote(const Accumulator &accumulator, int first, int last, const EdgePoints &points);
// Each point votes for the angles in [first, last) that are also in the intervals of its gradient direction.
// intervals: gradient_intervals_of().
void vote_near_gradient(const Accumulator &accumulator, int first, int last, const EdgePoints &points,
                        const std::vector<AngleIntervals> &intervals);

}  // namespace cudavision::hough
