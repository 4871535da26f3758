// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs kernels, with one fiber per CUDA thread.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tests/simt/cuda_runtime.h"
#include "tests/simt/engine/races.h"

namespace simt {

struct Kernel {
  dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  bool starts_early = false;  // by programmatic dependent launch
  std::function<void()> thread_body;
};

// Whether kernels that start early run together with the kernel ahead, once that one lets them start.
bool overlaps_kernels();
// Runs all blocks of consecutive kernels of a stream as Device::schedule says: one block after another, or several by
// turns. The blocks of a cooperative kernel always run by turns. All kernels but the first start early. Needs the
// device lock.
void run_kernels(const std::vector<Kernel> &kernels);

// The running thread: its block's clocks, its number in the block, and whether its own stack holds the address.
BlockClocks &running_clocks();
unsigned running_thread();
bool is_on_own_stack(const void *address);

}  // namespace simt
