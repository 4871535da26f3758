// SPDX-License-Identifier: LGPL-2.1-or-later
// The internal functions through which hough.cpp and the backends of the Hough transform and of line primitives reach
// each other.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/hough/accumulator_plan.h"
#include "cuda/hough/line_primitives.h"

namespace cudavision::hough {

// The checks of Hough::run(): fails if an image does not have the size given to make_hough(), if the luma is
// missing, or if a parameter is invalid.
Status check_run(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma, Size made_for,
                 const HoughParams &params);

// The checks of Hough::copy_votes(). plan: the plan of the last run, or null if there was none.
Status check_votes(ImageView<std::uint32_t> votes, const AccumulatorPlan *plan);

decltype(make_hough) make_hough_cpu, make_hough_cuda;
decltype(make_line_primitives) make_line_primitives_cpu, make_line_primitives_cuda;

}  // namespace cudavision::hough
