// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs kernels, one fiber per CUDA thread.
#pragma once

#include <cstddef>
#include <functional>

#include "../cuda_runtime.h"

namespace simt {

struct Kernel {
  dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  std::function<void()> thread_body;
};

// Runs all blocks, one after another, in the order of the device's schedule. Needs the device lock.
void run_kernel(const Kernel &kernel);

}  // namespace simt
