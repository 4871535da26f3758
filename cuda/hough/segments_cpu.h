// SPDX-License-Identifier: LGPL-2.1-or-later
// Segments on the CPU: walk_rules.h, lines in parallel.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "cuda/common/workers.h"
#include "cuda/hough/hough_rules.h"
#include "cuda/hough/walk_rules.h"

namespace cudavision::hough {

class SegmentFinder {
 public:
  // Packed runs of the segments along the lines of keys, in order.
  const std::vector<Key> &find(const Workers &workers, const Space &space, const std::vector<Key> &keys,
                               int line_count, ImageView<const std::uint8_t> edges,
                               const HoughParams &params);

 private:
  void claim(const Walk &walk, ImageView<const std::uint8_t> edges, const Run &run);
  bool owns(const Walk &walk, ImageView<const std::uint8_t> edges, const Run &run);
  std::uint32_t &owner(Pixel pixel, int width) {
    return owners_[static_cast<std::size_t>(pixel.y) * static_cast<std::size_t>(width) +
                   static_cast<std::size_t>(pixel.x)];
  }

  std::vector<std::uint32_t> owners_;    // rank of the line that each pixel belongs to
  std::vector<std::vector<Key>> found_;  // by each task: candidates, then segments
  std::vector<Key> segments_;
};

}  // namespace cudavision::hough
