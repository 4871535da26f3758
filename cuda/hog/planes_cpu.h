// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures with one plane of bytes per channel, for the CPU backend.
#pragma once

#include "cuda/common/memory_budget.h"
#include "cuda/common/workers.h"
#include "cuda/hog/blocks_cpu.h"

namespace cudavision::hog {

// Splits interleaved channels into planes.
class PlaneSplitter {
 public:
  PlaneSplitter(Size size, int channels)
      : bytes_(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) *
               static_cast<std::size_t>(channels)) {}
  // Sets `planes` to a view of the picture itself if it is a plane of luma, otherwise of a copy that is valid
  // until the next call.
  Status take(const Workers &workers, const HogPicture &picture, BytePlanes *planes);

 private:
  Array<std::uint8_t> bytes_;
};

}  // namespace cudavision::hog
