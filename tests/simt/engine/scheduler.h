// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs kernels, with one fiber per CUDA thread.
#pragma once

#include <cstddef>
#include <functional>

#include "tests/simt/cuda_runtime.h"
#include "tests/simt/engine/races.h"

namespace simt {

struct Kernel {
  dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  std::function<void()> thread_body;
};

// Runs all blocks in the order of the device's schedule: one after another, or, as it says, several by turns. All
// blocks of a cooperative kernel run by turns. Needs the device lock.
void run_kernel(const Kernel &kernel);

// Of the thread that runs.
BlockClocks &running_clocks();
unsigned running_thread();
bool is_on_own_stack(const void *address);

}  // namespace simt
