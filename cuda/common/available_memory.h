// SPDX-License-Identifier: LGPL-2.1-or-later
// The amount of memory that a backend can use. Ask before large allocations.
#pragma once

#include <cstddef>

#include "cuda/common/execution.h"

namespace cudavision {

// CUDA: the free memory of the current device. CPU: all physical memory of the machine, because the system
// can reclaim caches and swap.
Status available_memory(const Execution &execution, std::size_t *bytes);

}  // namespace cudavision
