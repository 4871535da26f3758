// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/launch_gate.h"

#include <map>
#include <mutex>
#include <utility>

namespace cudavision {
namespace {

thread_local LaunchGate *current_gate = nullptr;

}  // namespace

LaunchGate *LaunchGate::current() { return current_gate; }
LaunchGate *LaunchGate::set_current(LaunchGate *gate) { return std::exchange(current_gate, gate); }

LaunchGate &LaunchGate::of_device(int device_id) {
  static auto &mutex = *new std::mutex;
  static auto &gates = *new std::map<int, LaunchGate>;  // its nodes do not move
  const std::lock_guard lock(mutex);
  return gates[device_id];
}

void LaunchGate::begin_launch() {
  for (;;) {
    int launching = launching_;
    if (const int allocating = allocating_; allocating > 0)
      allocating_.wait(allocating);
    else if (launching >= kMostLaunching)
      launching_.wait(launching);
    else if (launching_.compare_exchange_weak(launching, launching + 1))
      return;
  }
}

void LaunchGate::end_launch() {
  --launching_;
  launching_.notify_one();
}

void LaunchGate::end_allocation() {
  if (--allocating_ == 0) allocating_.notify_all();
}

}  // namespace cudavision
