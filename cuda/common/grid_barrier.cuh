// SPDX-License-Identifier: LGPL-2.1-or-later
// A barrier of all blocks of a kernel that is launched together (CUDAVISION_LAUNCH_TOGETHER): one atomic
// addition a block.
//
// In the emulated CUDA static shared memory is one for all blocks: such a kernel keeps to dynamic shared
// memory.
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

// *arrivals, in global memory, is 0 when the kernel starts. Of each block one, in all its threads.
class GridBarrier {
 public:
  __device__ explicit GridBarrier(unsigned *arrivals) : arrivals_(arrivals) {}

  // Every thread of every block calls. What the threads have written to global memory before is seen behind
  // it, by loads that go to L2 (__ldcg) wherever a block may have read the same lines before.
  __device__ void wait() {
#ifdef CUDAVISION_EMULATED_CUDA
    simt::grid_barrier();
#else
    __syncthreads();
    complete_ += gridDim.x;
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrivals_, 1u);
      // The counter may wrap: what counts is how far behind it is.
      while (static_cast<int>(*static_cast<volatile unsigned *>(arrivals_) - complete_) < 0) {
      }
      __threadfence();
    }
    __syncthreads();
#endif
  }

 private:
  unsigned *arrivals_;
  [[maybe_unused]] unsigned complete_ = 0;
};

}  // namespace cudavision
