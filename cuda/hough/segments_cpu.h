// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend's search for segments (walk_rules.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "cuda/common/memory_budget.h"
#include "cuda/common/workers.h"
#include "cuda/hough/hough_rules.h"
#include "cuda/hough/walk_rules.h"

namespace cudavision::hough {

class SegmentFinder {
 public:
  // Finds the segments along the first line_count lines of keys.
  Status find(const Workers &workers, const Accumulator &accumulator, const Array<Key> &keys, int line_count,
              ImageView<const std::uint8_t> edges, const HoughParams &params);
  // The segments that were found, as packed runs (Run::pack()) in ascending order.
  const Array<Key> &found() const { return segments_; }

 private:
  void claim(const LineWalk &walk, ImageView<const std::uint8_t> edges, const Run &run);
  bool owns(const LineWalk &walk, ImageView<const std::uint8_t> edges, const Run &run);
  std::uint32_t &owner(Pixel pixel, int width) {
    return owners_[static_cast<std::size_t>(pixel.y) * static_cast<std::size_t>(width) +
                   static_cast<std::size_t>(pixel.x)];
  }

  Array<std::uint32_t> owners_;    // the rank of the line that owns each pixel
  std::vector<Array<Key>> found_;  // of each task: first its candidates, in the end its segments
  Array<Key> segments_;
};

}  // namespace cudavision::hough
