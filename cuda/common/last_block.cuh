// SPDX-License-Identifier: LGPL-2.1-or-later
// Last-block pattern (threadfence reduction): the block that finishes last does the work that needs the
// results of all blocks, so no block has to wait for another.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/acquire_release.cuh"

namespace cudavision {

// Counts this block as finished. Returns true in the block that makes *counter equal to `complete`. This
// block sees all writes of the counted blocks to global memory; where it may have cached the same lines in
// L1, it must load them with __ldcg. counter: in global memory. shared: one variable in the block's shared
// memory. Every thread of the block must call. Contains barriers.
__device__ inline bool is_last_block(unsigned *counter, unsigned complete, bool *shared) {
  __syncthreads();
  if (threadIdx.x == 0) *shared = arrive(counter) + 1 == complete;
  __syncthreads();
  return *shared;
}

}  // namespace cudavision
