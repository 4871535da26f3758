// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmarks of an algorithm on the CPU and, in a build with CUDA and on a machine with a GPU, on the GPU.
#pragma once

#include "tests/bench/harness/comparison.h"
#if CUDAVISION_HAVE_CUDA
#include <memory>

#include "tests/bench/harness/device.h"
#endif

namespace cudavision::bench {

// Calls add_rows(device), which registers the benchmarks on the GPU, or prints why there are none; then runs all
// benchmarks and returns what Comparison::run() returns. add_rows takes a `const auto &`, so that what it calls need
// not exist in a build without CUDA.
template <typename AddRows>
int run_on_backends(Comparison &comparison, int argc, char **argv, [[maybe_unused]] const AddRows &add_rows) {
#if CUDAVISION_HAVE_CUDA
  const std::unique_ptr<Device> device = find_device(comparison);
  if (device != nullptr) add_rows(*device);
#else
  comparison.leave_out("the CUDA backend", "this build has none");
#endif
  return comparison.run(argc, argv);
}

}  // namespace cudavision::bench
