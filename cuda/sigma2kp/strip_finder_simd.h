// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend's search for the keypoints of a strip of rows, which Highway compiles once per instruction set.
#pragma once

#include <vector>

#include "cuda/common/memory_budget.h"
#include "cuda/sigma2kp/sigma2kp_rules.h"

namespace cudavision::sigma2kp {

// The memory of a search; use one instance per thread. T: the type of a strength, std::uint32_t or std::uint64_t
// (DetectorPlan::is_wide()).
template <typename T>
struct StripMemory {
  // max_rows: the maximum number of rows of a strip.
  StripMemory(const DetectorPlan &the_plan, int max_rows)
      : plan(the_plan),
        stride(plan.map.width + plan.window - 1 + kRowPadding),
        strengths(static_cast<std::size_t>(stride) *
                  static_cast<std::size_t>(max_rows + plan.before + plan.after)),
        most(static_cast<std::size_t>(stride)),
        least(most.size()),
        sums(most.size()),
        squares(most.size()),
        marks(most.size() * static_cast<std::size_t>(max_rows)) {
    for (int dy = plan.first_near; dy < plan.end_near; ++dy)
      for (int dx = plan.first_near; dx < plan.end_near; ++dx)
        if (plan.is_near(dx, dy)) near.push_back({dx, dy});
  }

  // Rows end with this many elements of padding: enough for a window, a cell and the widest vector.
  static constexpr int kRowPadding = 96;

  DetectorPlan plan;
  std::vector<Offset> near;  // all offsets that DetectorPlan::is_near() accepts
  std::ptrdiff_t stride;     // elements per row
  Array<T> strengths;        // of the strip and its halo
  Array<T> most, least;
  Array<std::uint32_t> sums, squares;  // for each column: over `window` vertically adjacent pixels
  Array<std::uint8_t> marks;           // 1 at a keypoint
};

// Appends the keypoints whose windows begin in rows [first, end), in row-major order, without orientation.
void find_in_strip(StripMemory<std::uint32_t> &memory, ImageView<const std::uint8_t> luma, int first, int end,
                   Array<Sigma2Keypoint> *keypoints);
void find_in_strip(StripMemory<std::uint64_t> &memory, ImageView<const std::uint8_t> luma, int first, int end,
                   Array<Sigma2Keypoint> *keypoints);

}  // namespace cudavision::sigma2kp
