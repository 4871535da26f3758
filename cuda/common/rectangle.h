// SPDX-License-Identifier: LGPL-2.1-or-later
// Fills and copies rectangles of bytes in the backend's memory.
#pragma once

#include <cstdint>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"

namespace cudavision {

// Sets all bytes to a value. CUDA: enqueues one memset.
Status fill_rectangle(const Execution &execution, ImageView<std::uint8_t> bytes, std::uint8_t value);
// Copies bytes to a rectangle of the same size, which must not overlap them. CUDA: enqueues one copy.
Status copy_rectangle(const Execution &execution, ImageView<const std::uint8_t> from,
                      ImageView<std::uint8_t> to);

}  // namespace cudavision
