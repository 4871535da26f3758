// SPDX-License-Identifier: LGPL-2.1-or-later
// How much memory a backend has, to be asked before much of it is taken.
#pragma once

#include <cstddef>

#include "cuda/common/execution.h"

namespace cudavision {

// CUDA: what is free on the current device. CPU: what the machine has in all, since the system makes room.
Status available_memory(const Execution &execution, std::size_t *bytes);

}  // namespace cudavision
