// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws masks on frames of every pixel format. Both backends give the same bytes.
#pragma once

#include <cstdint>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/image.h"

namespace cudavision {

// Both functions change only the pixels of region, which must lie within the frame and have the size of mask. Frame and
// mask are in the backend's memory. Alpha and padding bytes do not change. A subsampled chroma sample changes if any of
// its pixels within the region changes, and then once. CUDA: each call enqueues one kernel.

// Replaces the picture by the mask: the values are written to R, G and B, or to Y with neutral (128) chroma.
Status replace_with_mask(const Execution &execution, const Frame &frame, Region region,
                         ImageView<const std::uint8_t> mask);

// Blends color over the pixels where mask is not 0: each component p becomes (alpha c + (255 - alpha) p + 127) / 255.
Status overlay_mask(const Execution &execution, const Frame &frame, Region region,
                    ImageView<const std::uint8_t> mask, Color color);

}  // namespace cudavision
