// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits how many threads launch kernels at the same time (launch_turn.h says why).
#include "gst/base/device/launch_turn.h"

#include <condition_variable>
#include <mutex>

namespace cudavision {
namespace {

struct Turns {
  std::mutex mutex;
  std::condition_variable one_has_launched;
  int launching = 0;  // guarded by mutex
};

// Never destroyed: threads may launch, and wait, while the process exits.
Turns &turns() {
  static auto &instance = *new Turns;
  return instance;
}

}  // namespace

LaunchTurn::LaunchTurn() {
  Turns &all = turns();
  std::unique_lock lock(all.mutex);
  all.one_has_launched.wait(lock, [&all] { return all.launching < kMostLaunching; });
  ++all.launching;
}

LaunchTurn::~LaunchTurn() {
  Turns &all = turns();
  {
    const std::lock_guard lock(all.mutex);
    --all.launching;
  }
  all.one_has_launched.notify_one();
}

}  // namespace cudavision
