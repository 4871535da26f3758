// SPDX-License-Identifier: LGPL-2.1-or-later
// The control panel: schedules, counters, reports and injected failures.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "tests/simt/engine/device.h"
#include "tests/simt/engine/memory.h"
#include "tests/simt/engine/stream.h"

namespace simt {
namespace {

// Reads a number from the text and moves it behind the number.
std::optional<unsigned> parse_number(std::string_view &text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool remove_prefix(std::string_view &text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<Schedule> parse_schedule(std::string_view text) {
  if (text == "forward") return Schedule{Order::forward};
  if (text == "reverse") return Schedule{Order::reverse};
  Schedule schedule;
  if (remove_prefix(text, "shuffled:"))
    schedule.order = Order::shuffled;
  else if (remove_prefix(text, "interleaved:"))
    schedule.order = Order::interleaved;
  else
    return std::nullopt;
  const std::optional<unsigned> seed = parse_number(text);
  if (!seed) return std::nullopt;
  schedule.seed = *seed;
  if (schedule.order == Order::interleaved) {
    if (!remove_prefix(text, ":")) return std::nullopt;
    const std::optional<unsigned> resident = remove_prefix(text, "all") ? kAllResident : parse_number(text);
    if (!resident || *resident == 0) return std::nullopt;
    schedule.resident = *resident;
  }
  return text.empty() ? std::optional(schedule) : std::nullopt;
}

Schedule initial_schedule() {
  const char *text = std::getenv("SIMT_ORDER");
  if (text == nullptr) return {};
  if (const std::optional<Schedule> schedule = parse_schedule(text)) return *schedule;
  // A run in another order than the requested one would prove nothing.
  std::fprintf(stderr, "simt: SIMT_ORDER=%s is none of the orders of tests/simt/simt.h\n", text);
  std::abort();
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
      return "shuffled:" + std::to_string(schedule.seed);
    case Order::interleaved:
      break;
  }
  return "interleaved:" + std::to_string(schedule.seed) + ':' +
         (schedule.resident == kAllResident ? "all" : std::to_string(schedule.resident));
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
