// SPDX-License-Identifier: LGPL-2.1-or-later
// Work that waits for other blocks without waiting: the last block to finish does it.
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

// Counts this block in, with all that its threads have written to global memory. True in the block that makes
// the count complete: it sees what the others have written, provided that its loads go to L2 (__ldcg)
// wherever it may have read the same lines before. shared: of the block. Every thread calls; barriers inside.
__device__ inline bool is_last_block(unsigned *counter, unsigned complete, bool *shared) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    *shared = atomicAdd(counter, 1u) + 1 == complete;
    __threadfence();
  }
  __syncthreads();
  return *shared;
}

}  // namespace cudavision
