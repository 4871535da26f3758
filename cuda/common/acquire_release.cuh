// SPDX-License-Identifier: LGPL-2.1-or-later
// Atomics with which blocks hand results in global memory to one another. They are cheaper than relaxed
// atomics between two calls of __threadfence(), which orders more than is needed (sequential consistency).
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

// Called by one thread of a block. Adds 1 to a counter in global memory, or sets the counter to 0 if its value is
// `last`, and returns the old value. Releases all writes of the block before its last barrier, and acquires those of
// the blocks that called arrive() earlier: the calling thread sees them at once, its block after the next barrier.
__device__ inline unsigned arrive(unsigned *counter, unsigned last = ~0u) {
#ifndef CUDAVISION_EMULATED_CUDA
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(counter)), "r"(last)
               : "memory");
  return before;
#else
  return simt::atomic_increment(counter, last, simt::MemoryOrder::acq_rel);
#endif
}

// Reads the counter of arrive(), and acquires the writes of all blocks that have called arrive() on this counter.
__device__ inline unsigned arrivals_at(const unsigned *counter) {
#ifndef CUDAVISION_EMULATED_CUDA
  unsigned now;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(now)
               : "l"(__cvta_generic_to_global(counter))
               : "memory");
  return now;
#else
  return simt::load(counter, simt::MemoryOrder::acquire);
#endif
}

// Reads a word in global memory that another thread may write. Bypasses L1 and acquires nothing: for polling loops.
__device__ inline unsigned long long relaxed_load(const unsigned long long *word) {
#ifndef CUDAVISION_EMULATED_CUDA
  unsigned long long now;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
               : "=l"(now)
               : "l"(__cvta_generic_to_global(word))
               : "memory");
  return now;
#else
  return simt::load(word, simt::MemoryOrder::relaxed);
#endif
}

// Writes a word that other threads read by relaxed_load() or change by atomics. Bypasses L1 and releases nothing.
__device__ inline void relaxed_store(unsigned long long *word, unsigned long long value) {
#ifndef CUDAVISION_EMULATED_CUDA
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(word)), "l"(value)
               : "memory");
#else
  simt::store(word, value, simt::MemoryOrder::relaxed);
#endif
}
__device__ inline void relaxed_store(unsigned *word, unsigned value) {
#ifndef CUDAVISION_EMULATED_CUDA
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(word)), "r"(value)
               : "memory");
#else
  simt::store(word, value, simt::MemoryOrder::relaxed);
#endif
}

}  // namespace cudavision
