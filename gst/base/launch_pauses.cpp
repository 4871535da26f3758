// SPDX-License-Identifier: LGPL-2.1-or-later
// Common pauses of all elements that work on a GPU, so that other elements can start and stop.
#include "gst/base/launch_pauses.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace cudavision {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// All threads pause at the same moments of the clock because GStreamer does not announce its allocations.
// With 64 streams, the launches in progress when a pause began took 0.6 ms to complete.
constexpr microseconds kPause{2000};
constexpr milliseconds kPeriod{250}, kPeriodWhileStarting{10};
constexpr milliseconds kStarting{500};  // time after the last sign of a start or stop
// An element gives way to an allocating element for at most kLongest per frame.
constexpr microseconds kStep{100}, kLongest{2000};

std::atomic<Clock::rep> starting_until{0};

}  // namespace

void expect_allocations() {
  starting_until.store((Clock::now() + kStarting).time_since_epoch().count(), std::memory_order_relaxed);
}

void pause_launches() {
  if (few_elements_work()) return;
  const auto now = Clock::now().time_since_epoch();
  const bool starting = now.count() < starting_until.load(std::memory_order_relaxed);
  const auto phase = now % (starting ? kPeriodWhileStarting : kPeriod);
  if (phase < kPause) std::this_thread::sleep_for(kPause - phase);
  for (microseconds waited{0}; waited < kLongest && AllocatingElement::count() > 0; waited += kStep)
    std::this_thread::sleep_for(kStep);
}

}  // namespace cudavision
