// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes results into the picture, in every format, on both backends.
#pragma once

#include <cstdint>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/image.h"

namespace cudavision {

// Both calls change only the pixels of region, which must lie within frame and have the size of mask (h x w,
// uint8). Frame and mask are in the backend's memory. Bytes of alpha and padding stay. A subsampled chroma
// sample is changed when any pixel of the region that it covers is. CUDA: each enqueues one kernel.

// The picture becomes the mask: its values go into R, G and B, or into Y with neutral (128) chroma.
Status replace_with_mask(const Execution &execution, const Frame &frame, Region region,
                         ImageView<const std::uint8_t> mask);

// color is laid over the pixels where mask is not 0: each component p becomes (alpha c + (255 - alpha) p +
// 127) / 255.
Status overlay_mask(const Execution &execution, const Frame &frame, Region region,
                    ImageView<const std::uint8_t> mask, Color color);

}  // namespace cudavision
