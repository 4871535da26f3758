// SPDX-License-Identifier: LGPL-2.1-or-later
// Gaps in the work of many elements on a card, for those that start.
#include "base/card_gaps.h"

#include <chrono>
#include <thread>

namespace cudavision {
namespace {

using std::chrono::microseconds;
using Clock = std::chrono::steady_clock;

// GStreamer does not tell us when it allocates, so all threads pause at the same moments of the clock.
constexpr microseconds kPeriod{10000}, kGap{150};
// An element that allocates is given way to, but not for longer than this in one frame.
constexpr microseconds kStep{100}, kLongest{2000};

}  // namespace

void leave_gap() {
  if (few_elements_work()) return;
  const auto phase = Clock::now().time_since_epoch() % kPeriod;
  if (phase < kGap) std::this_thread::sleep_for(kGap - phase);
  for (microseconds waited{0}; waited < kLongest && AllocatingElement::count() > 0; waited += kStep)
    std::this_thread::sleep_for(kStep);
}

}  // namespace cudavision
