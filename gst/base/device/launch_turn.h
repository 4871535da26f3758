// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits how many threads launch kernels at the same time: otherwise a lock of the driver would never be free for
// elements that start or stop (see LaunchTurn).
#pragma once

#include "gst/base/results/counted.h"

namespace cudavision {

// Exists while an element works on a GPU, from just before its start.
using WorkingElement = Counted<struct WorkingKind>;
// At most this many threads launch kernels at the same time.
inline constexpr int kMostLaunching = 4;
inline bool few_elements_work() { return WorkingElement::count() <= kMostLaunching; }

// Exists while a thread launches the kernels of a frame. The constructor waits while kMostLaunching threads launch.
//
// The driver guards a context with a read-write lock. Kernel launches take it for reading. Allocations, frees and the
// creation of streams and events take it for writing, and GStreamer, too, calls these at any time. If many threads
// launch, at least one of them holds the lock at any time, and a writer starves: of 64 streams that ran at full speed,
// several did not get their first event within 20 seconds (measured on an H100). If only a few threads launch at a
// time, the lock is often free.
class LaunchTurn {
 public:
  LaunchTurn();
  ~LaunchTurn();
  LaunchTurn(const LaunchTurn &) = delete;
  LaunchTurn &operator=(const LaunchTurn &) = delete;
};

}  // namespace cudavision
