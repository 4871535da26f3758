// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of the emulated device, its lock, and the common frame of all API calls.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <optional>

#include "tests/simt/cuda_runtime.h"
#include "tests/simt/driver_support.h"
#include "tests/simt/engine/shuffler.h"
#include "tests/simt/simt.h"

namespace simt {

inline constexpr std::size_t kDefaultMemoryLimit = std::size_t{4} << 30;
inline constexpr int kMaxThreadsPerBlock = 1024, kMaxBlockZ = 64;
// So few that grids sized by the number of multiprocessors stay small in tests.
inline constexpr int kMultiprocessors = 4;
inline constexpr int kMaxGridX = 0x7fffffff, kMaxGridYZ = 65535;
inline constexpr int kMaxSharedBytes = 48 * 1024, kMaxSharedBytesOptIn = 99 * 1024;
inline constexpr std::size_t kCalls = 8;

struct PlannedFailure {
  unsigned successes = 0;
  cudaError_t error = cudaSuccess;
  bool loses_device = false;
};

// One call of the runtime API.
struct Entry {
  Call kind;
  const char *name;
  bool needs_context = true;
};

struct Device {
  Device();
  void use(Schedule wanted);

  // One lock for everything: queues, maps, and running kernels, so that only one block runs at a time.
  std::mutex mutex;
  Counters counters;
  Report report;
  Schedule schedule;
  Shuffler shuffler;
  int count = 1;
  std::size_t memory_limit = kDefaultMemoryLimit;
  std::array<std::optional<PlannedFailure>, kCalls> failures;
  cudaError_t lost = cudaSuccess;  // the error that every call returns since the device was lost
  ContextCheck *context_check = nullptr;
  const char *running = "";  // the API call that holds the lock
};

Device &device();

// Returns an error unless there is a device and a context and no failure is injected. Needs the device lock.
cudaError_t admit(const Entry &entry);
// Drops all work and makes every later call fail. Needs the device lock.
void lose(cudaError_t error);
// The context of the calling thread; kNoContext if no driver checks contexts. Needs the device lock.
Context current_context();
// Returns true if the driver makes the running call. Needs the device lock.
bool is_drivers_own();
// Returns an error unless the running call may use an object made in `owner`. Needs the device lock.
cudaError_t check_owner(Object object, Context owner);
// Stores an error for cudaGetLastError and returns it.
cudaError_t remember(cudaError_t error);
// Prints one line "simt: …" to stderr and returns error.
[[gnu::format(printf, 2, 3)]] cudaError_t complain(cudaError_t error, const char *format, ...);

// The maximum dynamic shared memory for launches of this kernel. Needs the device lock.
int max_dynamic_shared_bytes(const void *kernel);

// Runs the body of an API call under the device lock.
template <class Body>
cudaError_t api(const Entry &entry, Body body) {
  const std::lock_guard lock(device().mutex);
  cudaError_t error = admit(entry);
  const bool releases = entry.kind == Call::free && error != cudaSuccess && error == device().lost;
  if (error == cudaSuccess)
    error = body();
  else if (releases)
    (void)body();
  return remember(error);
}

}  // namespace simt
