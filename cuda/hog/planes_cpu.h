// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures with one plane of bytes per channel, for the CPU backend.
#pragma once

#include "cuda/common/memory_budget.h"
#include "cuda/common/workers.h"
#include "cuda/hog/blocks_cpu.h"

namespace cudavision::hog {

// Planes that own their memory. kRowPadding bytes after each row may be read and written.
class OwnedPlanes {
 public:
  OwnedPlanes() = default;
  OwnedPlanes(Size size, int count);

  BytePlanes view() const;
  std::uint8_t *row(int plane, int y) {
    return bytes_.data() + (static_cast<std::size_t>(plane) * static_cast<std::size_t>(size_.height) +
                            static_cast<std::size_t>(y)) *
                               static_cast<std::size_t>(pitch_);
  }

 private:
  Size size_;
  int count_ = 0;
  std::ptrdiff_t pitch_ = 0;
  Array<std::uint8_t> bytes_;
};

// Splits interleaved channels into planes.
class PlaneSplitter {
 public:
  PlaneSplitter(Size size, int channels);
  // Sets `planes` to a view of the picture itself if it is a plane of luma, otherwise of a copy that is valid
  // until the next call.
  Status take(const Workers &workers, const HogPicture &picture, BytePlanes *planes);

 private:
  OwnedPlanes planes_;
};

}  // namespace cudavision::hog
