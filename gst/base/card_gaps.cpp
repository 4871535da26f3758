// SPDX-License-Identifier: LGPL-2.1-or-later
// Gaps in the work of many elements on a card, for those that start.
#include "base/card_gaps.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace cudavision {
namespace {

using std::chrono::microseconds;
using Clock = std::chrono::steady_clock;

constexpr int kFew = 4;
// GStreamer does not tell us when it allocates, so all threads pause at the same moments of the clock.
constexpr microseconds kPeriod{10000}, kGap{150};
// An element that allocates is given way to, but not for longer than this in one frame.
constexpr microseconds kStep{100}, kLongest{2000};

std::atomic<int> working{0}, allocating{0};

}  // namespace

WorkingElement::WorkingElement() { ++working; }
WorkingElement::~WorkingElement() { --working; }
bool WorkingElement::are_few() { return working <= kFew; }

AllocatingElement::AllocatingElement() { ++allocating; }
AllocatingElement::~AllocatingElement() { --allocating; }

void leave_gap() {
  if (WorkingElement::are_few()) return;
  const auto phase = Clock::now().time_since_epoch() % kPeriod;
  if (phase < kGap) std::this_thread::sleep_for(kGap - phase);
  for (microseconds waited{0}; waited < kLongest && allocating > 0; waited += kStep)
    std::this_thread::sleep_for(kStep);
}

}  // namespace cudavision
