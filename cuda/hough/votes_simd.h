// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend's list of edge points, and its vectorised inner loop: the votes of many points for one
// direction.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/common/image.h"
#include "cuda/hough/hough_rules.h"

namespace cudavision::hough {

// The edge pixels of a strip of rows, in raster order.
struct EdgePoints {
  std::vector<float> x, y;
  std::vector<std::uint16_t> direction;  // of the gradient, where it is asked for

  std::size_t count() const { return x.size(); }
};

// Replaces what points hold by those of rows [first, last). luma: empty, or read for directions.
void list_points(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma, int first, int last,
                 EdgePoints *points);

// Every point votes in the row of each direction of [first, last).
void vote(const Space &space, int first, int last, const EdgePoints &points);
// Every point votes in the rows of those directions that its gradient's stretches allow.
void vote_near_gradient(const Space &space, int first, int last, const EdgePoints &points,
                        const std::vector<Stretches> &stretches);

}  // namespace cudavision::hough
