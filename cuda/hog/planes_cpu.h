// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures as planes of bytes, for the CPU backend.
#pragma once

#include <vector>

#include "cuda/common/workers.h"
#include "cuda/hog/blocks_cpu.h"

namespace cudavision::hog {

// Planes that own their bytes; kRowPadding bytes behind each row may be read and written.
class OwnedPlanes {
 public:
  OwnedPlanes() = default;
  OwnedPlanes(Size most, int count);

  // Of at most the size that they were made for.
  BytePlanes view(Size size) const;
  std::uint8_t *row(int plane, int y) {
    return bytes_.data() + (static_cast<std::size_t>(plane) * static_cast<std::size_t>(most_.height) +
                            static_cast<std::size_t>(y)) *
                               static_cast<std::size_t>(pitch_);
  }

 private:
  Size most_;
  int count_ = 0;
  std::ptrdiff_t pitch_ = 0;
  std::vector<std::uint8_t> bytes_;
};

class PlaneSplitter {
 public:
  PlaneSplitter(Size size, int channels);
  // A plane of luma as it lies, everything else copied.
  BytePlanes take(const Workers &workers, const HogPicture &picture);

 private:
  OwnedPlanes planes_;
};

}  // namespace cudavision::hog
