// SPDX-License-Identifier: LGPL-2.1-or-later
// The work list of leftover pixels (flow_leftovers.cuh): its device memory, and the launch of the kernel that
// finishes them.
#pragma once

#include <algorithm>
#include <utility>

#include "cuda/common/buffer_cuda.h"
#include "cuda/common/device_limits_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/opticalflow/flow_leftovers.cuh"

namespace cudavision::opticalflow {

class Leftovers {
 public:
  // Allocates a list with room for one in 16 pixels of the frame.
  Status allocate(Size frame) {
    const std::size_t pixels = static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height);
    CUDAVISION_TRY(multiprocessor_count(&multiprocessors_));
    CUDAVISION_TRY(pixels_.allocate(pixels / 16 + 1));
    return counters_.allocate(kCounters);
  }

  // Call begin() before the first level of a frame and end() after its last one. begin() resets the counters if the
  // last frame did not reach end() because of an error.
  Status begin(cudaStream_t stream) {
    if (std::exchange(counters_are_zero_, false)) return {};
    return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(counters_.data(), 0, kCounters * sizeof(unsigned), stream));
  }
  void end() { counters_are_zero_ = true; }

  LeftoverList list() const {
    return {.pixels = pixels_.data(),
            .capacity = static_cast<unsigned>(pixels_.count()),
            .count = counters_.data(),
            .taken = counters_.data() + 1,
            .blocks_done = counters_.data() + 2};
  }
  // Enqueues the kernel that finishes the pixels of the list.
  Status finish(cudaStream_t stream, const DeviceWork &work) const {
    return with_window(work.rules.window, [&](auto steps, auto window) {
      const int at_once = leftover_blocks(steps()) * multiprocessors_,
                most = divide_up(work.from.width * work.from.height, kLeftoverThreads / 32);
      const auto kernel = finish_leftovers_kernel<steps(), window()>;
      return CUDAVISION_LAUNCH_PDL("finish_leftovers_kernel", kernel,
                                   dim3(static_cast<unsigned>(std::min(at_once, most))),
                                   dim3(kLeftoverThreads), stream, work, list());
    });
  }

 private:
  DeviceBuffer<UnfinishedPixel> pixels_;
  static constexpr std::size_t kCounters = 3;
  DeviceBuffer<unsigned> counters_;  // LeftoverList::count, taken and blocks_done
  int multiprocessors_ = 1;
  bool counters_are_zero_ = false;
};

}  // namespace cudavision::opticalflow
