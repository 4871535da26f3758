// SPDX-License-Identifier: LGPL-2.1-or-later
// The decoder of the picture files that mask-location names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cuda/common/image.h"
#include "cuda/common/memory_budget.h"
#include "cuda/common/status.h"

namespace cudavision {

// From this luma on, the opaque pixels of a mask are removed.
constexpr int kLeastMaskLuma = 128;

struct MaskPixels {
  Size size{};
  std::optional<int> brightest;  // the largest luma of the opaque pixels; none if there are no such pixels
  Array<std::uint8_t> pixels;    // 255 or 0, in row-major order without padding
};

// Decodes the contents of a file with libpng. It takes bounded time and memory, whatever the file holds: its size and
// that of the picture are bounded, and so is the work for a pixel. Throws std::bad_alloc.
Status decode_png(std::string_view file, MaskPixels *mask);

}  // namespace cudavision
