// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU's filling, patch after patch.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/common/execution.h"
#include "cuda/inpaint/inpaint_rules.h"
#include "cuda/inpaint/search_simd.h"

namespace cudavision::inpaint {

// Of the picture that is filled.
struct Exemplars {
  ImageView<std::uint32_t> pixels;          // the frame's components
  ImageView<const std::uint32_t> features;  // what is compared
  ImageView<std::uint8_t> hole;             // 0 filled; becomes 0 where a patch is put
  ComparedPlanes planes;
  ImageView<const std::uint8_t> sources;  // not 0: the patch around it is a candidate
};

class ExemplarFill {
 public:
  ExemplarFill(const Execution &execution, Size size);

  // bounds: of the hole, which is not empty; there is a candidate. params: valid. progress: called after each
  // patch; false ends the filling. Gives whether it came to its end.
  bool run(const Exemplars &picture, Bounds bounds, const InpaintParams &params, const FillLog &log,
           const std::function<bool(int filled)> &progress, int *patches);

 private:
  void begin(const Exemplars &picture, Bounds bounds, int radius);
  // Gradients and priorities that the pixels within `reach` of (x, y), of the area, can have changed.
  void update(int x, int y, int reach);
  void rate_row(int y, int first, int last);
  std::uint64_t best_target() const;
  void take_target(const Exemplars &picture, int x, int y);
  std::uint64_t find_source(const Exemplars &picture, int target, int search_radius);
  // Gives how many pixels it filled.
  int put_patch(const Exemplars &picture, int target, int source);

  Execution execution_;
  Size size_;
  int radius_ = 0;
  FillState state_{};
  std::vector<std::uint32_t> words_, gradient_, priority_;
  std::vector<std::int32_t> confidence_;
  std::vector<std::uint64_t> row_best_;
  Target target_;
  int last_target_ = -1, last_source_ = -1;
};

}  // namespace cudavision::inpaint
