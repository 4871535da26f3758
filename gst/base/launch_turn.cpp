// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits how many elements launch kernels at the same time, so that other elements can start and stop.
#include "gst/base/launch_turn.h"

#include <condition_variable>
#include <mutex>

namespace cudavision {
namespace {

std::mutex mutex;
std::condition_variable one_has_launched;
int launching = 0;  // guarded by mutex

}  // namespace

LaunchTurn::LaunchTurn() {
  std::unique_lock lock(mutex);
  one_has_launched.wait(lock, [] { return launching < kMostLaunching; });
  ++launching;
}

LaunchTurn::~LaunchTurn() {
  {
    const std::lock_guard lock(mutex);
    --launching;
  }
  one_has_launched.notify_one();
}

}  // namespace cudavision
