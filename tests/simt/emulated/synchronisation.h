// SPDX-License-Identifier: LGPL-2.1-or-later
// Barriers, votes and shuffles: all operations at which a thread waits for others. Warp operations require a
// mask, as in CUDA.
#pragma once

#include <cstdint>
#include <cstring>
#include <source_location>

namespace simt {

enum class Operation : std::uint8_t {
  barrier,
  barrier_or,
  barrier_and,
  barrier_count,
  part_barrier,
  warp_barrier,
  ballot,
  any,
  all,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  poll  // does not wait: before a load or an atomic, at which other threads may run
};

// The operands of one thread at a barrier or warp operation.
struct Request {
  Operation operation = Operation::barrier;
  unsigned mask = 0;        // of a part_barrier: its number
  std::uint64_t value = 0;  // of a part_barrier: how many threads it needs
  unsigned lane = 0;        // source lane, delta or lane mask of a shuffle
  int width = 32;
  std::source_location where;
};

// Waits until all participating threads have arrived and returns this thread's result.
[[gnu::visibility("default")]] std::uint64_t rendezvous(const Request &request);

template <class T>
T shuffle(Operation operation, unsigned mask, T value, unsigned lane, int width, std::source_location where) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = rendezvous({operation, mask, bits, lane, width, where});
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace simt

// A parameter whose default is the caller's source location, for reports.
#define SIMT_HERE std::source_location where = std::source_location::current()

inline void __syncthreads(SIMT_HERE) { simt::rendezvous({simt::Operation::barrier, 0, 0, 0, 0, where}); }
inline int __syncthreads_or(int predicate, SIMT_HERE) {
  return static_cast<int>(simt::rendezvous({simt::Operation::barrier_or, 0, predicate != 0, 0, 0, where}));
}
inline int __syncthreads_and(int predicate, SIMT_HERE) {
  return static_cast<int>(simt::rendezvous({simt::Operation::barrier_and, 0, predicate != 0, 0, 0, where}));
}
inline int __syncthreads_count(int predicate, SIMT_HERE) {
  return static_cast<int>(simt::rendezvous({simt::Operation::barrier_count, 0, predicate != 0, 0, 0, where}));
}

namespace simt {
// PTX's barrier.sync with a number and a count of threads: a barrier of some warps of a block.
inline void part_barrier(unsigned number, unsigned threads, SIMT_HERE) {
  rendezvous({Operation::part_barrier, number, threads, 0, 0, where});
}
}  // namespace simt

inline void __syncwarp(unsigned mask = 0xffffffffu, SIMT_HERE) {
  simt::rendezvous({simt::Operation::warp_barrier, mask, 0, 0, 32, where});
}
inline unsigned __ballot_sync(unsigned mask, int predicate, SIMT_HERE) {
  return static_cast<unsigned>(
      simt::rendezvous({simt::Operation::ballot, mask, predicate != 0, 0, 32, where}));
}
inline int __any_sync(unsigned mask, int predicate, SIMT_HERE) {
  return static_cast<int>(simt::rendezvous({simt::Operation::any, mask, predicate != 0, 0, 32, where}));
}
inline int __all_sync(unsigned mask, int predicate, SIMT_HERE) {
  return static_cast<int>(simt::rendezvous({simt::Operation::all, mask, predicate != 0, 0, 32, where}));
}

// Exactly CUDA's overloads: narrower types promote to int, others fail to compile.
#define SIMT_SHUFFLES(T)                                                                                     \
  inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32, SIMT_HERE) {                        \
    return simt::shuffle(simt::Operation::shuffle, mask, value, static_cast<unsigned>(lane), width, where);  \
  }                                                                                                          \
  inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_HERE) {               \
    return simt::shuffle(simt::Operation::shuffle_up, mask, value, delta, width, where);                     \
  }                                                                                                          \
  inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_HERE) {             \
    return simt::shuffle(simt::Operation::shuffle_down, mask, value, delta, width, where);                   \
  }                                                                                                          \
  inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, SIMT_HERE) {               \
    return simt::shuffle(simt::Operation::shuffle_xor, mask, value, static_cast<unsigned>(lane_mask), width, \
                         where);                                                                             \
  }

SIMT_SHUFFLES(int)
SIMT_SHUFFLES(unsigned)
SIMT_SHUFFLES(long)
SIMT_SHUFFLES(unsigned long)
SIMT_SHUFFLES(long long)
SIMT_SHUFFLES(unsigned long long)
SIMT_SHUFFLES(float)
SIMT_SHUFFLES(double)

#undef SIMT_SHUFFLES
#undef SIMT_HERE

// A memory fence, which only the race detector needs: in the emulation every write is visible at once.
namespace simt {
[[gnu::visibility("default")]] void fence();

// Programmatic dependent launch. The next kernel of the stream may start as soon as each block of this one has ended or
// one of its threads has called let_next_kernel_start(). wait_for_kernel_ahead() returns when the kernel ahead of this
// one in the stream has ended.
[[gnu::visibility("default")]] void let_next_kernel_start();
[[gnu::visibility("default")]] void wait_for_kernel_ahead(
    std::source_location where = std::source_location::current());
}  // namespace simt
inline void __threadfence() { simt::fence(); }
inline void __threadfence_system() { simt::fence(); }
