// SPDX-License-Identifier: LGPL-2.1-or-later
// The control panel: schedules, counters, reports and injected failures.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "tests/simt/engine/device.h"
#include "tests/simt/engine/memory.h"
#include "tests/simt/engine/stream.h"

namespace simt {
namespace {

constexpr char kShuffledPrefix[] = "shuffled:";

Schedule parse_schedule(const char *text) {
  if (std::strcmp(text, "forward") == 0) return {Order::forward, 0};
  if (std::strcmp(text, "reverse") == 0) return {Order::reverse, 0};
  const std::size_t prefix = sizeof kShuffledPrefix - 1;
  char *end = nullptr;
  if (std::strncmp(text, kShuffledPrefix, prefix) == 0 && text[prefix] != '\0') {
    const unsigned long seed = std::strtoul(text + prefix, &end, 10);
    if (*end == '\0') return {Order::shuffled, static_cast<unsigned>(seed)};
  }
  // A run in another order than the requested one would prove nothing.
  std::fprintf(stderr, "simt: SIMT_ORDER=%s is none of forward, reverse, shuffled:SEED\n", text);
  std::abort();
}

Schedule initial_schedule() {
  const char *text = std::getenv("SIMT_ORDER");
  return text == nullptr ? Schedule{} : parse_schedule(text);
}

}  // namespace

Device::Device() { use(initial_schedule()); }

void Device::use(Schedule wanted) {
  schedule = wanted;
  shuffler = Shuffler(wanted.seed);
}

Device &device() {
  // Never destroyed: a plugin may still make calls while the process exits.
  static auto &instance = *new Device;
  return instance;
}

void set_schedule(Schedule schedule) {
  const std::lock_guard lock(device().mutex);
  device().use(schedule);
}

Schedule schedule() {
  const std::lock_guard lock(device().mutex);
  return device().schedule;
}

std::string to_string(Schedule schedule) {
  switch (schedule.order) {
    case Order::forward:
      return "forward";
    case Order::reverse:
      return "reverse";
    case Order::shuffled:
      break;
  }
  return kShuffledPrefix + std::to_string(schedule.seed);
}

Counters counters() {
  const std::lock_guard lock(device().mutex);
  return device().counters;
}

Counters operator-(const Counters &a, const Counters &b) {
  return {.launches = a.launches - b.launches,
          .host_to_device_copies = a.host_to_device_copies - b.host_to_device_copies,
          .host_to_device_bytes = a.host_to_device_bytes - b.host_to_device_bytes,
          .device_to_host_copies = a.device_to_host_copies - b.device_to_host_copies,
          .device_to_host_bytes = a.device_to_host_bytes - b.device_to_host_bytes,
          .device_to_device_copies = a.device_to_device_copies - b.device_to_device_copies,
          .device_to_device_bytes = a.device_to_device_bytes - b.device_to_device_bytes,
          .memsets = a.memsets - b.memsets,
          .memset_bytes = a.memset_bytes - b.memset_bytes,
          .synchronisations = a.synchronisations - b.synchronisations,
          .allocations = a.allocations - b.allocations,
          .frees = a.frees - b.frees,
          .host_allocations = a.host_allocations - b.host_allocations,
          .host_frees = a.host_frees - b.host_frees,
          .streams_created = a.streams_created - b.streams_created,
          .streams_destroyed = a.streams_destroyed - b.streams_destroyed,
          .barriers = a.barriers - b.barriers,
          .warp_operations = a.warp_operations - b.warp_operations,
          .global_atomics = a.global_atomics - b.global_atomics,
          .shared_atomics = a.shared_atomics - b.shared_atomics};
}

Report take_report() {
  const std::lock_guard lock(device().mutex);
  return std::exchange(device().report, {});
}

void fail_after(Call call, unsigned successes, cudaError_t error) {
  const std::lock_guard lock(device().mutex);
  device().failures[static_cast<std::size_t>(call)] = PlannedFailure{successes, error, false};
}

void lose_device_after(Call call, unsigned successes, cudaError_t error) {
  const std::lock_guard lock(device().mutex);
  device().failures[static_cast<std::size_t>(call)] = PlannedFailure{successes, error, true};
}

void lose_device(cudaError_t error) {
  const std::lock_guard lock(device().mutex);
  lose(error);
}

void set_device_count(int count) {
  const std::lock_guard lock(device().mutex);
  device().count = count;
}

void set_memory_limit(std::size_t bytes) {
  const std::lock_guard lock(device().mutex);
  device().memory_limit = bytes;
}

Owned owned_by(Context context) {
  const std::lock_guard lock(device().mutex);
  Owned owned;
  count_owned(context, &owned);
  count_owned_streams(context, &owned);
  return owned;
}

void release(Context context) {
  const std::lock_guard lock(device().mutex);
  release_streams(context);
  release_memory(context);
}

int device_count() {
  const std::lock_guard lock(device().mutex);
  return device().count;
}

cudaError_t lost() {
  const std::lock_guard lock(device().mutex);
  return device().lost;
}

void reset() {
  const std::lock_guard lock(device().mutex);
  device().use(initial_schedule());
  device().report = {};
  device().count = 1;
  device().memory_limit = kDefaultMemoryLimit;
  device().failures = {};
  device().lost = cudaSuccess;
}

}  // namespace simt
