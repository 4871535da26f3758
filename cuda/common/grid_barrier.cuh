// SPDX-License-Identifier: LGPL-2.1-or-later
// A barrier for all blocks of a cooperative launch (CUDAVISION_LAUNCH_COOPERATIVE). It costs one atomic
// addition per block.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/acquire_release.cuh"

namespace cudavision {

// Every thread of every block constructs one with the same `arrivals`: a counter in global memory that must be 0 when
// the kernel starts.
class GridBarrier {
 public:
  __device__ explicit GridBarrier(unsigned *arrivals) : arrivals_(arrivals) {}

  // Every thread of every block must call. Writes to global memory before the barrier are visible to all
  // blocks after it; a block that may have cached the same lines in L1 must load them with __ldcg.
  __device__ void wait() {
    __syncthreads();
    if (threadIdx.x == 0) {
      // The counter counts the arrivals at all barriers so far, and wraps around at a multiple of the number of blocks.
      // This barrier is open once the counter has left [first, first + number of blocks).
      const unsigned before = arrive(arrivals_, (1u << 31) / gridDim.x * gridDim.x - 1);
      const unsigned first = before - before % gridDim.x;
      while (arrivals_at(arrivals_) - first < gridDim.x) {
      }
    }
    __syncthreads();
  }

 private:
  unsigned *arrivals_;
};

}  // namespace cudavision
