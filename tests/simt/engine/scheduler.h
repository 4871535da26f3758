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

// Whether kernels that start early run together with the one ahead, as far as this one lets them.
bool overlaps_kernels();
// Runs all blocks of consecutive kernels of a stream in the order of the device's schedule: one after another, or, as it
// says, several by turns. All blocks of a cooperative kernel run by turns. All kernels but the first start early. Needs the
// device lock.
void run_kernels(const std::vector<Kernel> &kernels);

// Of the thread that runs.
BlockClocks &running_clocks();
unsigned running_thread();
bool is_on_own_stack(const void *address);

}  // namespace simt
