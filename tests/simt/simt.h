// SPDX-License-Identifier: LGPL-2.1-or-later
// The control panel of the emulated CUDA: thread orders, counters, reports and injected failures, for tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/simt/emulated/errors.h"

namespace simt {

#pragma GCC visibility push(default)

// --- the order in which threads and blocks run ---

// In the first three orders, one block runs after another. In the last one, several blocks are resident, and their
// threads are switched at random at barriers, warp operations, atomics, and accesses of other blocks' words
// (simt::load).
enum class Order { forward, reverse, shuffled, interleaved };

// As many resident blocks as the kernel has, or as the emulator has stacks for.
inline constexpr unsigned kAllResident = ~0u;

struct Schedule {
  Order order = Order::forward;
  unsigned seed = 0;      // for Order::shuffled and Order::interleaved
  unsigned resident = 1;  // for Order::interleaved: the number of resident blocks
};

// A correct kernel produces the same bits in each of these orders.
inline constexpr std::array<Schedule, 8> kSchedules{{{Order::forward},
                                                     {Order::reverse},
                                                     {Order::shuffled, 1},
                                                     {Order::shuffled, 2},
                                                     {Order::shuffled, 3},
                                                     {Order::interleaved, 1, 3},
                                                     {Order::interleaved, 2, 2},
                                                     {Order::interleaved, 3, kAllResident}}};

// Applies to kernels that run from now on, including queued ones. Before the first call, the environment
// variable SIMT_ORDER=forward|reverse|shuffled:SEED|interleaved:SEED:RESIDENT|interleaved:SEED:all decides; the default
// is forward.
void set_schedule(Schedule schedule);
Schedule schedule();
// The schedule in the notation of SIMT_ORDER.
std::string to_string(Schedule schedule);

// --- counters of the process since its start, over all threads ---

struct Counters {
  std::uint64_t launches = 0;
  std::uint64_t host_to_device_copies = 0, host_to_device_bytes = 0;
  std::uint64_t device_to_host_copies = 0, device_to_host_bytes = 0;
  std::uint64_t device_to_device_copies = 0, device_to_device_bytes = 0;
  std::uint64_t memsets = 0, memset_bytes = 0;
  std::uint64_t synchronisations = 0;  // the host waited for a stream, an event or the device
  std::uint64_t allocations = 0, frees = 0, host_allocations = 0, host_frees = 0;
  std::uint64_t streams_created = 0, streams_destroyed = 0;
  std::uint64_t barriers = 0;         // counted once for each block that passes one
  std::uint64_t warp_operations = 0;  // counted once for each group of participating lanes
  std::uint64_t global_atomics = 0, shared_atomics = 0;

  bool operator==(const Counters &) const = default;
};

// Calls are counted when they are queued; barriers, warp operations and atomics when the kernel runs.
Counters counters();
Counters operator-(const Counters &later, const Counters &earlier);

// --- operations of completed kernels that CUDA leaves undefined ---

struct Report {
  unsigned divergent_barriers = 0;  // passed although a thread had exited, or reached from different places
  unsigned bad_masks = 0;           // a lane read from an inactive lane

  bool operator==(const Report &) const = default;
};

// Returns the report since the last call and begins a new one.
Report take_report();

// --- objects that are not yet freed ---

std::size_t live_allocations();
std::size_t live_bytes();
std::size_t live_host_allocations();
// True if the address lies in memory of cudaMallocHost or cudaHostAlloc.
bool is_page_locked(const void *address);
std::size_t live_streams();
std::size_t live_events();

// --- injected failures ---

enum class Call { allocation, host_allocation, copy, launch, synchronise, create, free, query };

// The next `successes` calls of that kind succeed, the one after them fails with `error`, and later ones succeed again.
void fail_after(Call call, unsigned successes, cudaError_t error);
inline void fail_next(Call call, cudaError_t error) { fail_after(call, 0, error); }
inline void fail_allocations_after(unsigned successes) {
  fail_after(Call::allocation, successes, cudaErrorMemoryAllocation);
}
// Loses the device as after a failed kernel: the next `successes` calls of that kind succeed, then the device
// is lost. Queued work never runs, and every call that needs the device fails with `error`; frees and
// destroys also fail, but release their objects. Only reset() recovers the device.
void lose_device_after(Call call, unsigned successes, cudaError_t error = cudaErrorLaunchFailure);
void lose_device(cudaError_t error = cudaErrorLaunchFailure);
// With 0, every call returns cudaErrorNoDevice.
void set_device_count(int count);
void set_memory_limit(std::size_t bytes);
// Undoes set_schedule, set_device_count, set_memory_limit, fail_after and lose_device_after, and drops the report.
void reset();

#pragma GCC visibility pop

}  // namespace simt
