// SPDX-License-Identifier: LGPL-2.1-or-later
// Gaps in the work of many elements on a card, for those that start and stop.
#include "gst/base/card_gaps.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace cudavision {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// GStreamer does not tell us when it allocates, so all threads pause at the same moments of the clock. The work of 64
// streams that was under way when a gap began took 0.6 ms to be enqueued.
constexpr microseconds kGap{2000};
constexpr milliseconds kPeriod{250}, kPeriodWhileStarting{10};
constexpr milliseconds kStarting{500};  // after the last sign of a start or a stop
// An element that allocates is given way to, but not for longer than this in one frame.
constexpr microseconds kStep{100}, kLongest{2000};

std::atomic<Clock::rep> starting_until{0};

}  // namespace

void expect_allocations() {
  starting_until.store((Clock::now() + kStarting).time_since_epoch().count(), std::memory_order_relaxed);
}

void leave_gap() {
  if (few_elements_work()) return;
  const auto now = Clock::now().time_since_epoch();
  const bool starting = now.count() < starting_until.load(std::memory_order_relaxed);
  const auto phase = now % (starting ? kPeriodWhileStarting : kPeriod);
  if (phase < kGap) std::this_thread::sleep_for(kGap - phase);
  for (microseconds waited{0}; waited < kLongest && AllocatingElement::count() > 0; waited += kStep)
    std::this_thread::sleep_for(kStep);
}

}  // namespace cudavision
